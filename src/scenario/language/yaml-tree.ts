/** What a file consists of; `start` and `end` are offsets in its text. */
export type Node = TextNode | ListNode | MappingNode;

interface NodeBase {
  readonly start: number;
  readonly end: number;
  /** Where the alias stands through which it came, the outermost of several. */
  readonly aliasAt?: number;
}

export interface TextNode extends NodeBase {
  readonly kind: "text";
  /** What it says, without quotes and with lines joined. */
  readonly value: string;
  /** Whether it stands without quotes, so that `null` means nothing and `1` a number. */
  readonly isPlain: boolean;
}

export interface ListNode extends NodeBase {
  readonly kind: "list";
  readonly items: readonly Node[];
}

export interface MappingNode extends NodeBase {
  readonly kind: "mapping";
  /** In the order of the file; no two have the same key. */
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly key: TextNode;
  readonly value: Node;
}

/** Collections may stand in one another so deep. */
export const MOST_LEVELS = 32;

/** A node whose parts know that they came through the alias through which it came. */
export function aliasedThrough<Of extends Node>(node: Of): Of;
export function aliasedThrough(node: Node): Node {
  const { aliasAt } = node;
  if (aliasAt === undefined || node.kind === "text") return node;
  if (node.kind === "list") return { ...node, items: node.items.map((item) => ({ ...item, aliasAt })) };
  const entries = node.entries.map(({ key, value }) => ({
    key: { ...key, aliasAt },
    value: { ...value, aliasAt },
  }));
  return { ...node, entries };
}

/** Whether nothing stands there, or `null`. */
export const isNothing = (node: Node): boolean =>
  node.kind === "text" && node.isPlain && /^(?:|~|null|Null|NULL)$/.test(node.value);
