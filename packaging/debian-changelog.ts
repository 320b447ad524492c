/** What changed, in the form that Debian's tools read (deb-changelog(5)), from the project's own list of changes. */

const WIDTH = 78;

export interface Release {
  version: string;
  maintainer: string;
  /** Seconds since the epoch. */
  date: number;
}

/** @param changes the text of CHANGELOG.md: the section of the version, else the newest that says something */
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

/** The headings between the items have no place in Debian's form. */
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
