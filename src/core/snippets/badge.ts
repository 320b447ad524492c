/** A badge to paste into a page: escaped, so the label stays text whatever it contains. */
import { printable } from '../../text/printable.ts';

export interface PastedBadge {
  /** Where the picture is. */
  url: string;
  /** The text shown if the picture cannot be. */
  alt: string;
}

/** Characters with a meaning in Markdown. */
const MARKUP = /[\\`*_[\]<>!|~&$]/g;

export function badgeMarkdown({ url, alt }: PastedBadge): string {
  return `![${printable(alt).replace(MARKUP, '\\$&')}](${url})`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function badgeHtml({ url, alt }: PastedBadge): string {
  const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '');
  return `<img alt="${escaped(printable(alt))}" src="${escaped(url)}">`;
}
