import { guardOrigin, isTrusted } from "../authentication.ts";
import { type Handlers, JsonText, SILENCE } from "../handler.ts";

/** POST /chain. Its answers take effect in the order in which their requests came, among all others too. */
export const chainRpcHandlers: Handlers<"callChain"> = {
  callChain: ({ body, headers }, { chain, gate, options }) => {
    guardOrigin(headers, "the chain");
    const answer = chain(body, isTrusted(options, headers));
    return gate.hold(answer.then((text) => (text === "" ? SILENCE : new JsonText(text))));
  },
};
