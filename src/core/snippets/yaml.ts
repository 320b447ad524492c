/** Files for services that run jobs, in YAML. Text is put in double quotes, as in JSON. */
import { printable } from '../../text/printable.ts';
import { shellWord } from '../../text/shell-word.ts';
import { cronTimesOf } from './cron-times.ts';
import { runByShell } from './shell.ts';
import { CURL, commentOf, type Snippet, type SnippetSubject, slugOf } from './snippet.ts';

const SECRET = 'CHECK_IN_URL';

/** A workflow lies in a repository that others may be able to read, so the address comes from a secret. */
export function githubActions(snitch: SnippetSubject): Snippet {
  const { name, url, schedule, timezone } = snitch;
  const { times, why } = cronTimesOf(snitch);
  const on = times === undefined ? [] : ['  schedule:', `    - cron: "${times}"`];
  const text = [
    commentOf(name),
    `# .github/workflows/${slugOf(name)}.yml`,
    `name: ${quoted(name)}`,
    'on:',
    ...on,
    '  workflow_dispatch: {}',
    'jobs:',
    '  job:',
    '    runs-on: ubuntu-latest',
    '    steps:',
    '      - uses: actions/checkout@v4',
    '      - name: Job',
    '        run: ./job',
    '      - name: Check in',
    '        if: always()',
    '        env:',
    `          CHECK_IN: \${{ secrets.${SECRET} }}`,
    `          RESULT: \${{ job.status }}`,
    '        run: |',
    '          [ "$RESULT" = success ] && s=0 || s=$RESULT',
    `          ${CURL} -d "s=$s" "$CHECK_IN"`,
  ].join('\n');
  const isByClock = schedule !== null && 'cron' in schedule;
  return {
    kind: 'github-actions',
    text,
    remarks: [
      `The address is a secret: gh secret set ${SECRET} --body ${shellWord(url)}`,
      ...(why === undefined ? [] : [`It has no schedule yet: ${why}.`]),
      ...(isByClock && timezone !== 'UTC'
        ? [`The schedule is meant in ${timezone}, but GitHub uses UTC.`]
        : []),
      ...(times !== undefined && /^\*(?:\/[1-4])? /.test(times)
        ? ['GitHub runs nothing more often than every 5 minutes.']
        : []),
    ],
  };
}

export function kubernetes(snitch: SnippetSubject): Snippet {
  const { name, url, timezone } = snitch;
  const kind = 'kubernetes';
  const { times, why } = cronTimesOf(snitch);
  if (why !== undefined) {
    return { kind, text: null, remarks: [`There is no CronJob for it: ${why}.`] };
  }
  const slug = slugOf(name);
  const script = runByShell(url, '$CHECK_IN').split('\n');
  const text = [
    commentOf(name),
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    `  name: ${quoted(`${slug}-check-in`)}`,
    'stringData:',
    `  url: ${quoted(url)}`,
    '---',
    'apiVersion: batch/v1',
    'kind: CronJob',
    'metadata:',
    `  name: ${quoted(slug)}`,
    'spec:',
    `  schedule: "${times}"`,
    `  timeZone: ${quoted(timezone)}`,
    '  concurrencyPolicy: Forbid',
    '  jobTemplate:',
    '    spec:',
    '      backoffLimit: 0',
    '      template:',
    '        spec:',
    '          restartPolicy: Never',
    '          containers:',
    '            - name: job',
    '              image: example/job',
    '              env:',
    '                - name: CHECK_IN',
    '                  valueFrom:',
    '                    secretKeyRef:',
    `                      name: ${quoted(`${slug}-check-in`)}`,
    '                      key: url',
    '              command: ["/bin/sh", "-c"]',
    '              args:',
    '                - |',
    ...script.map((line) => `                  ${line}`),
  ].join('\n');
  const remarks = ['Put your image and the job in their places; the image needs sh and curl.'];
  return { kind, text, remarks };
}

/** What JSON quotes is the same text in YAML. */
function quoted(text: string): string {
  return JSON.stringify(printable(text));
}
