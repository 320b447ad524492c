/** A badge as it is pasted into a page: escaped, so that the label stays text whatever it is. */
import { printable } from '../../text/printable.ts';

export interface PastedBadge {
  /** Where the picture is. */
  url: string;
  /** What is said where it cannot be seen. */
  alt: string;
}

/** What means something in a text of Markdown. */
const MARKUP = /[\\`*_[\]<>!|~&$]/g;

export function badgeMarkdown({ url, alt }: PastedBadge): string {
  return `![${printable(alt).replace(MARKUP, '\\$&')}](${url})`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function badgeHtml({ url, alt }: PastedBadge): string {
  const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '');
  return `<img alt="${escaped(printable(alt))}" src="${escaped(url)}">`;
}
