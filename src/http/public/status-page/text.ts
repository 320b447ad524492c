/** Text from people as HTML and XML. Nothing that it holds can become markup, hide, or turn around what stands beside it. */

/** Control and format characters, but for the joiners that some scripts and emoji need, and what XML cannot hold. */
const HIDDEN = /(?!\u200c|\u200d|\n)[\p{Cc}\p{Cf}\u2028\u2029\ufffe\uffff]/gu;

/** Letters that show nothing at all. */
const BLANKS = /\s|\u200c|\u200d|\u2800|\u3164|\u115f|\u1160|\uffa0/gu;

/** Without what is invisible; `instead` where nothing is left of it. */
export function visible(text: string, instead = '(no name)'): string {
  const shown = text.toWellFormed().replace(HIDDEN, '');
  return shown.replace(BLANKS, '') === '' ? instead : shown;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For HTML and XML, between tags and in quoted attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Text of people in HTML: it is visible, escaped, and turns nothing else around. */
export function isolated(text: string): string {
  return `<bdi>${escaped(visible(text))}</bdi>`;
}

const ADDRESS = /https?:\/\/[^\s<>"']+/g;

/** What may stand behind an address and is no part of it. */
const BEHIND = /[).,;:!?\]}]+$/;

/** Several lines in HTML, in which addresses can be followed. */
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
