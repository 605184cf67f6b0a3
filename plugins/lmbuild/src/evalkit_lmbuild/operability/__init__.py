"""R.3, operability: can the object do what objects of its kind are for?

    result = operability(Scorer(design, facts), Settings(protocol="inset"))

Capabilities are subsystems (F, `subsystems`), claimed motions (M, `moving`, simulated), human checks (H,
`predicates`) and required parts of no subsystem (P).
"""

from evalkit_lmbuild.operability.capability import Capability, Link
from evalkit_lmbuild.operability.predicates import holds
from evalkit_lmbuild.operability.subject import Subject
from evalkit_lmbuild.operability.whole import Operability, operability

__all__ = ["Capability", "Link", "Operability", "Subject", "holds", "operability"]
