import { guardOrigin, isTrusted } from "../authentication.ts";
import { type Handlers, JsonText, SILENCE } from "../handler.ts";

/** POST /chain. */
export const chainRpcHandlers: Handlers<"callChain"> = {
  callChain: async ({ body, headers }, { chain, options }) => {
    guardOrigin(headers, "the chain");
    const text = await chain(body, isTrusted(options, headers));
    return text === "" ? SILENCE : new JsonText(text);
  },
};
