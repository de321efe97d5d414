const LONGEST = 80;

/**
 * A text as the last part of an address: ASCII letters and digits in lower case, words joined by single hyphens, at
 * most 80 characters and cut between words.
 */
export function slugOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d)/g, "")
    .replaceAll("%", " percent ")
    .replace(/[\u0300-\u036f'’"°]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return shortened(words === "" ? "untitled" : words, LONGEST);
}

/** The slug of a text, numbered when an earlier text took it, and added to those that are taken. */
export function freshSlug(text: string, taken: Set<string>): string {
  const plain = slugOf(text);
  let slug = plain;
  for (let copy = 2; taken.has(slug); copy += 1) {
    const suffix = `-${copy}`;
    slug = shortened(plain, LONGEST - suffix.length) + suffix;
  }
  taken.add(slug);
  return slug;
}

function shortened(slug: string, longest: number): string {
  if (slug.length <= longest) return slug;
  const cut = slug.lastIndexOf("-", longest);
  return cut > 0 ? slug.slice(0, cut) : slug.slice(0, longest);
}
