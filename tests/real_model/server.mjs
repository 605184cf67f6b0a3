// Serves a GGUF model through the part of OpenAI's chat API that agents with text answers need.
// The first line on stdout is the base URL. The server ends with its stdin, so it can't outlive its parent.
//
//     node server.mjs MODEL.gguf
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { getLlama, LlamaChat, resolveChatWrapper } from "node-llama-cpp";

const NAME = "gemma-3-270m";
const CONTEXT_TOKENS = 8192;
const UNSUPPORTED = ["tools", "response_format", "stream"];

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
// One thread: several wait for each other by spinning, which takes minutes on a busy machine.
const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: 1 });
const contextSequence = context.getSequence();
const chatWrapper = resolveChatWrapper(model);
const chat = new LlamaChat({ contextSequence, chatWrapper });

const refusal = (status, message, code = null) => Object.assign(new Error(message), { status, code });

function historyItem({ role, content }) {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  // The model can't see: pictures are left out.
  const text = parts.filter((part) => part.type === "text").map((part) => part.text).join("\n");
  if (role === "assistant") return { type: "model", response: [text] };
  if (role === "system" || role === "user") return { type: role, text };
  throw refusal(400, `no messages of role '${role}' here`);
}

function countTokens(history) {
  const chatHistory = [...history, { type: "model", response: [] }];
  return chatWrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer).length;
}

async function complete(body) {
  if (body.model !== NAME) throw refusal(404, `the model here is '${NAME}'`, "model_not_found");
  const unsupported = UNSUPPORTED.filter((key) => body[key]);
  if (unsupported.length) throw refusal(400, `not supported here: ${unsupported.join(", ")}`);
  const history = body.messages.map(historyItem);
  const input = countTokens(history);
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? 256;
  if (input + maxTokens > CONTEXT_TOKENS) {
    const message = `${input} + ${maxTokens} tokens, but the maximum context length is ${CONTEXT_TOKENS}`;
    throw refusal(400, message, "context_length_exceeded");
  }
  await contextSequence.clearHistory();
  const before = contextSequence.tokenMeter.getState();
  const { temperature = 1, top_p: topP = 1, seed = 0, stop = [] } = body;
  const sampling = { temperature, topP, seed, repeatPenalty: false, customStopTriggers: [stop].flat() };
  const { response: content, metadata } = await chat.generateResponse(history, { maxTokens, ...sampling });
  const output = contextSequence.tokenMeter.diff(before).usedOutputTokens;
  const finish_reason = metadata.stopReason === "maxTokens" ? "length" : "stop";
  return {
    id: `chatcmpl-${Date.now()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: NAME,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

let turn = Promise.resolve(); // there is one context: requests wait for the one before
async function answer(request) {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /v1/models") return { object: "list", data: [{ id: NAME, object: "model" }] };
  if (route !== "POST /v1/chat/completions") throw refusal(404, `nothing at ${route}`);
  const body = await json(request).catch((error) => Promise.reject(refusal(400, error.message)));
  const reply = turn.then(() => complete(body));
  turn = reply.catch(() => {}); // told to the one who asked, no matter to the next
  return reply;
}

const server = createServer(async (request, response) => {
  const [status, reply] = await answer(request).then(
    (found) => [200, found],
    ({ status = 500, message, code = null }) => [status, { error: { message, code } }],
  );
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(reply));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
process.stdin.resume().on("end", () => process.exit());
