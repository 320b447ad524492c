/** Names the snitch of a job after the program that the job is about. */
import { basename } from 'node:path';

/** Programs that run another program, which is what the job is about. */
const RUNNERS = new Set(
  'sudo nice ionice chronic timeout flock env nohup setsid time exec command su runuser systemd-cat bash sh dash zsh python python3 perl ruby php node java run-parts cronic chrt unshare doas'.split(
    ' ',
  ),
);

/** Commands that only prepare for the real one. */
const PREPARATIONS = new Set(
  'cd test [ [[ set export umask ulimit . source sleep true false : if for case fi done esac command mkdir read'.split(
    ' ',
  ),
);

/** Keywords of the shell that may come before a command. */
const KEYWORDS = new Set('then else do while until ! time'.split(' '));

/** `backup` for `cd /srv && /usr/local/bin/backup.sh --all > /dev/null`; `job` if nothing can be a name. */
export function nameOfCommand(command: string): string {
  const parts = command.split(/&&|\|\||[;|\n]/);
  for (const part of parts) {
    const name = nameOfPart(part);
    if (name !== null) return name;
  }
  return 'job';
}

function nameOfPart(part: string): string | null {
  const words = part
    .replace(/["'(){}]/g, ' ')
    .replace(/\d*[<>]+&?\s*\S+/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && !/^[A-Za-z_]\w*=/.test(word));
  while (KEYWORDS.has(words[0] ?? '')) words.shift();
  const [first = ''] = words;
  if (first === '' || PREPARATIONS.has(basename(first))) return null;
  let runner: string | null = null;
  for (const [index, word] of words.entries()) {
    const program = basename(word);
    if (RUNNERS.has(program)) runner = program;
    else if (!isArgumentOfRunner(word, runner, words[index - 1])) return plain(program);
  }
  return runner;
}

/** Whether a word between a runner and its program is an option, a number or a lock file. */
function isArgumentOfRunner(word: string, runner: string | null, before = ''): boolean {
  if (runner === null) return false;
  if (/^-[ugs]$/.test(before)) return true;
  if (word.startsWith('-') || /^\d+[smhd]?$/.test(word)) return true;
  return runner === 'flock' && /lock|^\/(?:run|var|tmp)\//.test(word);
}

function plain(program: string): string {
  const name = program
    .replace(/\.(?:sh|bash|py|pl|rb|php|js|mjs|jar)$/i, '')
    .replace(/[^\p{L}\p{N}._+-]/gu, '');
  return name.slice(0, 100) || 'job';
}
