import type { Page, PageWindow } from "./api-messages.ts";
import { type Result, success } from "./result.ts";

type AskPage<Item> = (window: PageWindow) => Promise<Result<Page<Item>>>;

/**
 * Requests the pages of a list in order, up to the last page or the first error:
 * `pages((window) => client.trades({ market: "rain", ...window }))`. Offsets count from the front, so that an item may
 * come twice if newer items are added meanwhile.
 */
export async function* pages<Item>(
  ask: AskPage<Item>,
  first: PageWindow = {},
): AsyncGenerator<Result<Page<Item>>, void, undefined> {
  let offset = first.offset ?? 0;
  for (;;) {
    const page = await ask({ ...first, offset });
    yield page;
    if (!page.ok || !page.value.hasMore || page.value.data.length === 0) return;
    offset += page.value.data.length;
  }
}

/** Returns all items of a list, requested page by page, or the first error. */
export async function collect<Item>(ask: AskPage<Item>, first: PageWindow = {}): Promise<Result<Item[]>> {
  const items: Item[] = [];
  for await (const page of pages(ask, first)) {
    if (!page.ok) return page;
    for (const item of page.value.data) items.push(item);
  }
  return success(items);
}
