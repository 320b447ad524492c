/** The snippets by their kinds. */
import { badgeMarkdown } from './badge.ts';
import { powershell, python } from './scripts.ts';
import { crontab, curl } from './shell.ts';
import type { Snippet, SnippetKind, SnippetSubject } from './snippet.ts';
import { systemd } from './systemd.ts';
import { githubActions, kubernetes } from './yaml.ts';

const MAKERS: Record<SnippetKind, (snitch: SnippetSubject) => Snippet> = {
  crontab,
  curl,
  systemd,
  python,
  powershell,
  'github-actions': githubActions,
  kubernetes,
  badge,
};

export function snippetFor(kind: SnippetKind, snitch: SnippetSubject): Snippet {
  return MAKERS[kind](snitch);
}

function badge({ name, badge: own }: SnippetSubject): Snippet {
  const kind = 'badge';
  if (own === null) {
    return { kind, text: null, remarks: ['It has no badge yet: snitch badge add NAME makes one.'] };
  }
  if (own === 'unknown') {
    return { kind, text: null, remarks: ['The server is too old for badges, and must be updated first.'] };
  }
  const alt = own.label ?? own.public_name ?? name;
  return { kind, text: badgeMarkdown({ url: own.url, alt }), remarks: [] };
}
