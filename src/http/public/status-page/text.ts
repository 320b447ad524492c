/** Text from people as HTML and XML. Nothing in it can become markup, hide, or reorder the text around it. */
import { escaped } from '../../../text/html.ts';

/** Control and format characters, except the joiners that some scripts and emoji need, and what XML does not allow. */
const HIDDEN = /(?!\u200c|\u200d|\n)[\p{Cc}\p{Cf}\u2028\u2029\ufffe\uffff]/gu;

/** Letters that show nothing at all. */
const BLANKS = /\s|\u200c|\u200d|\u2800|\u3164|\u115f|\u1160|\uffa0/gu;

/** Without invisible characters; `instead` if nothing is left. */
export function visible(text: string, instead = '(no name)'): string {
  const shown = text.toWellFormed().replace(HIDDEN, '');
  return shown.replace(BLANKS, '') === '' ? instead : shown;
}

/** Text from people as HTML: visible, escaped, and unable to reorder anything around it. */
export function isolated(text: string): string {
  return `<bdi>${escaped(visible(text))}</bdi>`;
}

const ADDRESS = /https?:\/\/[^\s<>"']+/g;

/** What may follow an address without being part of it. */
const BEHIND = /[).,;:!?\]}]+$/;

/** Several lines as HTML, with addresses turned into links. */
export function linked(text: string): string {
  const shown = visible(text, '');
  let html = '';
  let end = 0;
  for (const { 0: found, index } of shown.matchAll(ADDRESS)) {
    const address = found.replace(BEHIND, '');
    html += escaped(shown.slice(end, index));
    html += `<a href="${escaped(address)}" rel="nofollow noopener noreferrer">${escaped(address)}</a>`;
    end = index + address.length;
  }
  return html + escaped(shown.slice(end));
}
