"""Ordinary words for the components of built things, grouped by what they mean.

`SYNONYMS`: one meaning a line, its name before the colon. A name with a `+` is a kind of what follows the
plus: a caster is a wheel, whereas a steering wheel, written without, is no kind of wheel. A word that stands
under several names can mean each of them, first of all the first. All words are singular.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


SYNONYMS = """
wheel: road wheel, tire wheel, running wheel
caster+wheel: caster, castor, castor wheel, swivel wheel, trolley wheel
steering wheel: steering handwheel
handwheel: hand wheel, crank wheel, turning wheel
flywheel: fly wheel, inertia wheel
gear: gear wheel, gearwheel, cog, cogwheel, cog wheel, toothed wheel, spur gear
chainwheel: chain wheel, chainring, chain ring, sprocket, chain sprocket
paddle wheel: water wheel, waterwheel
spinning wheel: drive wheel of a spinning wheel
grinding wheel: grindstone, grinding stone, whetstone, abrasive wheel, sharpening stone
potter wheel: throwing wheel, wheel head
push rim: pushrim, hand rim, handrim
tire: tyre, wheel tire, wheel tyre, tread
hub: wheel hub, hubcap
rim: wheel rim
roller: rolling cylinder, roll
track: caterpillar track, crawler track, tread belt
axle: wheel axle, axle shaft, wheel shaft, axle rod
shaft: drive shaft, driveshaft, spindle, arbor
crankshaft: crank shaft
bearing: bearing block, pillow block, ball bearing
pulley: sheave, pulley wheel, belt pulley
belt: drive belt, conveyor belt, transmission belt
chain: drive chain, bicycle chain
crank: crank handle, crank arm, hand crank, winding handle, winder
pedal: foot pedal, treadle, foot lever, footplate pedal
lever: lever arm, hand lever, operating lever
handle: grip, hand grip, handgrip, pull, pull handle, drawer pull, door pull, grab handle, carry handle
handlebar: handle bar, steering bar, push bar, push handle
knob: turning knob, control knob, dial knob, rotary knob
button: push button, pushbutton, key button
switch: toggle switch, power switch, rocker switch
tap: faucet, spigot
spout: pouring spout, beak
valve: shutoff valve, stop valve
bolt: hex bolt, carriage bolt
latch: catch, bolt, door bolt, bolt latch, door latch, clasp, hasp
lock: padlock, door lock
hinge: pivot hinge, butt hinge
pin: hinge pin, pivot pin, dowel, peg
pivot: fulcrum, pivot point, pivot shaft
spring: coil spring, helical spring, leaf spring
brake: wheel brake, parking brake, brake lever assembly, wheel lock
fork: wheel fork, front fork
caster+fork: castor fork
screw: lead screw, leadscrew, threaded rod, threaded spindle, spindle screw
nut: wing nut, hex nut
rail: guide rail, slide rail, runner, drawer runner, drawer slide, slide, guideway, linear guide
carriage: slider, sliding carriage, slide block, saddle slide
ram: press ram, plunger
piston: piston head
cylinder: hydraulic cylinder, gas cylinder, gas spring, gas lift
connecting rod: con rod, conrod, connecting link, coupler
rod: stick, stem rod
seat: seating surface, seat cushion, seat pad, seat panel, seat board, seat plate, seat base, sitting surface
saddle: bicycle seat, bike seat
backrest: back rest, back, seat back, chair back, backboard, back support, back cushion, seatback
arm: support arm, swing arm, extension arm, lamp arm
armrest: arm rest, arm, chair arm, elbow rest, arm support
footrest: foot rest, footplate, foot plate, foot support, foot board
headrest: head rest, head support, neck rest
legrest: leg rest, calf rest, leg support
leg: support leg, table leg, chair leg, stool leg, furniture leg, trestle leg, desk leg, bed leg
foot: levelling foot, rubber foot, pad foot, glide
tabletop: table top, desktop, desk top, worktop, work top, work surface, worksurface, top, top board
tabletop: writing surface, counter top, countertop, table surface, desk surface, working surface, bench top
tabletop: benchtop, top plate, top surface, desk board, top slab, table board, table plate
table leaf: leaf, drop leaf, extension leaf, table flap
apron: table apron, skirt board
stretcher: cross stretcher, leg brace, spreader bar, crossbar stretcher, h stretcher
brace: strut, bracing, diagonal brace, cross brace, support brace, ring brace
crossbar: cross bar, crosspiece, cross member, crossbeam, cross beam, transom, traverse
post: upright, column, pillar, mast, stanchion, vertical post, support column, support post
beam: girder, joist, main beam
frame: framework, chassis, main frame, support frame, frame structure, skeleton, framing
base: base plate, baseplate, pedestal, plinth, foot base, stand base, bottom plate, base frame
stand: support stand, holder stand
tripod: tripod base
bracket: support bracket, mounting bracket, angle bracket, wall bracket
mount: mounting plate, mounting
door: door leaf, leaf, door panel, door wing, cabinet door, cupboard door, hinged door
gate: gate leaf, gate panel, gate wing
door frame: doorframe, jamb, door jamb, door casing
window: window pane, window sash, sash, pane
lid: cover, hinged lid, top cover, cap lid, box lid, hinged cover
cap: end cap, bottle cap, stopper, plug, cork
flap: hinged flap
hatch: trapdoor, trap door, access hatch, access door
shutter: blind, slat shutter, window shutter
drawer: pull out drawer, sliding drawer, drawer box, drawer tray
shelf: shelving, shelf board, rack shelf, storage shelf, shelf plate, ledge
compartment: cubby, pigeonhole, pigeon hole, storage compartment, bin compartment
cabinet: cupboard, carcase, carcass, cabinet body, case body, corpus
case: casing, housing, enclosure, outer case, outer shell, casework, box body, main case, machine housing
top panel: top, upper panel, top board, top plate, top wall
side panel: side, sidewall, side wall, side board, sideboard panel, side plate, cheek
back panel: back, rear panel, back board, back wall, rear wall, back plate
bottom panel: bottom, bottom board, floor panel, base panel, box bottom, floor plate
front panel: front, drawer front, fascia, front plate, front board, front wall
divider: partition, separator, dividing wall, partition wall
tray: platter, serving tray
basket: wire basket, mesh basket
hopper: funnel, feed hopper, feed funnel
bin: waste bin, trash bin, container bin, bucket bin
bucket: pail, scoop bucket, loader bucket
tank: reservoir, water tank, fuel tank, container tank
bowl: basin, mixing bowl, vessel bowl, dish
lampshade: lamp shade, shade
bulb: light bulb, lamp bulb, lamp
mirror: looking glass
mattress: bed mattress, sleeping pad
headboard: head board, bed head
footboard: bed foot, foot end board
slat: bed slat, lath
ladder rung: rung, ladder step
step: stair, stair tread, foot step, stair step, step board
handrail: hand rail, banister, railing, guard rail, guardrail
platform: deck, loading platform, load platform, standing platform, load bed, cargo bed, loading bed
hook: hanger hook, crane hook, coat hook
rope: cord, line, cable, hoist rope, string
drum: winch drum, cable drum, winding drum, reel, spool
winch: windlass, hoist
boom: jib, crane arm, crane boom, boom arm
link: linkage, link bar, link rod, lever link
upper+arm: top arm
jaw: vice jaw, vise jaw, clamping jaw, gripper jaw
clamp: clamping device, c clamp
anvil: anvil block
blade: knife blade, cutting blade, saw blade, knife, cutter
rotor blade: blade, fan blade, propeller blade, turbine blade, impeller blade, vane
rotor: impeller, propeller, fan rotor, fan wheel
sail: windmill sail, mill sail
tine: prong, fork tine
hammer head: hammerhead, mallet head
shovel blade: shovel, spade blade, scoop
bristle: brush head, bristle head
needle: pointer, indicator, dial needle, gauge needle
dial: dial face, clock face, clockface, gauge face
pendulum: pendulum bob, bob
counterweight: counter weight, balance weight, counterbalance, ballast
scale pan: weighing pan, balance pan
balance beam: scale beam, weighing beam
cab: cabin, driver cab, driver cabin
bonnet: hood, engine hood, engine cover
boot lid: trunk lid, trunk, tailgate
bumper: fender bar, buffer
fender: mudguard, mud guard, wheel guard, splash guard
windscreen: windshield, wind screen
headlight: head light, headlamp, front light
car body: body shell, bodywork, vehicle body, car shell
wing: airfoil, aerofoil
hull: boat hull
mast stay: shroud
paddle: oar
rudder: rudder blade
motor: engine, electric motor, drive motor
pump: hand pump
nozzle: jet, spray head, sprinkler head
hose: tube hose, flexible pipe
pipe: tube, tubing, conduit
grate: grating, grill grate, grille, cooking grate, grill rack
burner: gas burner, cooking plate, hotplate, hob
oven door: stove door
kettle body: pot body, pot, kettle
lens: optical lens, objective
eyepiece: ocular
keyboard: keypad, keyset
key: piano key
screen: display, monitor, display screen, monitor panel
speaker: loudspeaker
canopy: awning, sunshade, umbrella canopy, umbrella cover
rib: umbrella rib
roof: roof panel, rooftop
chimney: flue, smoke stack
trough: channel, gutter
chute: slide, slide chute, slideway, sliding surface
swing seat: swing board
cushion: pillow, pad, padding, upholstery
curtain: drape
ring: hoop, collar ring
collar: shaft collar, sleeve, bushing, bush
bell: gong
trigger: release trigger
stop: end stop, stopper block, limit stop
"""

POSITIONS = {
    "left": "left", "l": "left", "lh": "left", "right": "right", "r": "right", "rh": "right",
    "front": "front", "forward": "front", "fore": "front", "rear": "rear", "back": "rear", "aft": "rear",
    "hind": "rear", "upper": "upper", "top": "upper", "lower": "lower", "bottom": "lower", "inner": "inner",
    "inside": "inner", "interior": "inner", "outer": "outer", "outside": "outer", "exterior": "outer",
    "middle": "middle", "mid": "middle", "center": "middle", "centre": "middle", "central": "middle",
    "side": "side", "lateral": "side",
}  # fmt: skip
"""Words for where a component is, by what they mean in front of a noun."""

PAIRED_POSITIONS = {"fl": "front left", "fr": "front right", "rl": "rear left", "bl": "rear left"} | {
    "rr": "rear right", "br": "rear right", "tl": "upper left", "tr": "upper right",
}  # fmt: skip

OPPOSITES = (
    frozenset({"left", "right"}),
    frozenset({"front", "rear"}),
    frozenset({"upper", "lower"}),
    frozenset({"inner", "outer"}),
)

WEAK_HEADS = _set(
    "assembly unit set element part component piece system mechanism section member structure subassembly "
    "module pair group object body mesh geometry"
)
"""Words that add nothing after another noun: a "wheel assembly" is a wheel."""

FLAT_HEADS = _set("panel board plate surface slab pad")
"""Words that add nothing after a noun of `FLAT`: a "shelf board" is a shelf, a "brake pad" no brake."""

FLAT = _set("door seat lid drawer shelf backrest armrest footrest headrest tabletop base gate flap")

GENERIC = WEAK_HEADS | _set(
    "block box cube cuboid cylinder sphere torus item shape thing primitive solid node detail other misc "
    "unknown main default generic extra"
)

NOISE = _set(
    "the a an its this that main primary single individual whole entire overall solid wooden wood metal "
    "metallic steel aluminum aluminium iron plastic rubber small large big long short new standard"
)
"""Words that don't tell one component of an object from another."""

PEOPLE = _set("user person operator rider driver passenger occupant sitter human child adult")

LIMBS = _set("hand arm finger foot leg palm body back")
"""Of people, where a word of `PEOPLE` stands in front; else components."""

FRAME_WORDS = PEOPLE | _set(
    "ground floor wall ceiling table earth world environment room surrounding air water content object "
    "workpiece outside none"
)
"""What an object is used with, not what it is made of."""

NUMBERS = {
    "one": 1, "two": 2, "both": 2, "pair": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip

IRREGULAR = {
    "feet": "foot", "leaves": "leaf", "shelves": "shelf", "knives": "knife", "halves": "half",
    "teeth": "tooth", "calves": "calf", "axes": "axis", "people": "person", "children": "child",
    "lenses": "lens", "buses": "bus",
}  # fmt: skip

SINGULAR = _set(
    "chassis glass lens gas brass cross press truss canvas bus compass mattress harness axis basis scissors "
    "pliers tongs tweezers pincers bellows binoculars glasses headphones series carcass mass "
    "bias atlas windlass"
)
"""Words that end in s and name one thing."""
