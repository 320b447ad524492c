/** Turns the project's list of changes into the form that Debian's tools read (deb-changelog(5)). */

const WIDTH = 78;

export interface Release {
  version: string;
  maintainer: string;
  /** Seconds since the epoch. */
  date: number;
}

/** @param changes the text of CHANGELOG.md; the section of the version is used, or else the newest with items */
export function debianChangelog(changes: string, { version, maintainer, date }: Release): string {
  const sections = changes.split(/^## /m).slice(1);
  const own = sections.find((section) => section.startsWith(version));
  const [items = ['See CHANGELOG.md.gz.']] = [own, ...sections]
    .map((section) => itemsOf(section ?? ''))
    .filter((found) => found.length > 0);
  const time = new Date(date * 1_000).toUTCString().replace('GMT', '+0000');
  const lines = items.flatMap(wrapped);
  return `snitch (${version}) unstable; urgency=medium\n\n${lines.join('\n')}\n\n -- ${maintainer}  ${time}\n`;
}

/** Debian's form has no headings between the items. */
function itemsOf(section: string): string[] {
  return section
    .replace(/^### .*$/gm, '')
    .split(/^- /m)
    .slice(1)
    .map((item) => item.replace(/\s+/g, ' ').trim());
}

function wrapped(item: string): string[] {
  const lines = ['  *'];
  for (const word of item.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + 1 + word.length > WIDTH) lines.push(`    ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
