/** The list of all snitches: how long it takes, how much memory, and how long other GETs wait meanwhile. */
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { arm, type JobsDatabase, observe, steadyTokens } from '../database/jobs-database.ts';
import { usualScene } from '../database/scene.ts';
import { latenciesBetween } from '../load/latencies.ts';
import { pace } from '../load/wrk.ts';
import { type Daemon, forgetPeak, memoryOf } from '../program/daemon.ts';
import { median } from '../quantile.ts';
import { type Case, counted, type Sizes, type Subject } from './case.ts';

/** GETs a second beside the long list, and how long they run before it, in milliseconds. */
const BESIDE = 200;
const WARM_UP = 1_000;

/** The short list is so quick that measuring it once says little. */
const TIMES = 9;

export const list: Case = {
  name: 'list',
  rounds: 2,
  lines: ({ million, tenThousand }: Sizes) => [
    {
      what: `List of ${counted(million)}`,
      figure: 'seconds',
      unit: 's',
      aim: { of: 'figure', most: 10 },
    },
    { what: 'Memory more', figure: 'more', unit: 'bytes', aim: { of: 'figure', most: 150e6 } },
    {
      what: 'p99 of a GET beside it',
      figure: 'p99',
      unit: 'ms',
      beside: { figure: 'idle', name: 'idle' },
      aim: { of: 'figure', most: 20 },
    },
    {
      what: `List of ${counted(tenThousand)}`,
      figure: 'short',
      unit: 'ms',
      beside: { figure: 'alone', name: 'SQLite and `JSON.stringify` alone' },
      aim: { of: 'ratio', most: 1.3 },
    },
  ],
  async open(subject) {
    const large = await subject.database(subject.sizes.million);
    const small = await subject.database(subject.sizes.tenThousand);
    return {
      round: async () => {
        // Before each round: otherwise the time since the last round's daemon is a blind window, and the list is
        // measured while a million deadlines are being postponed.
        for (const database of [large, small]) arm(database, usualScene(database.midnight));
        return { ...(await longList(subject, large)), ...(await shortList(subject, small)) };
      },
      end: async () => {},
    };
  },
};

/** Each round has its own daemon, because a daemon may keep memory that it needed once. */
async function longList(subject: Subject, database: JobsDatabase) {
  const daemon = await subject.start(database.dataDir);
  const paths = steadyTokens(database, 1_000).map((token) => `/v1/snitches/${token}`);
  await sleep(WARM_UP);
  const beside = pace(subject.workplace, { url: daemon.url, paths, rate: BESIDE, key: daemon.apiKey });
  await sleep(2 * WARM_UP);
  forgetPeak(daemon.pid);
  const { resident } = memoryOf(daemon.pid);
  const start = Date.now();
  const { milliseconds, size } = await readAll(daemon);
  const end = Date.now();
  const { peak } = memoryOf(daemon.pid);
  const answered = await beside.end();
  await daemon.end();
  if (size < database.jobs.count * 100)
    throw new Error(`the list of ${database.jobs.count} snitches was cut short`);
  return {
    seconds: milliseconds / 1_000,
    more: peak - resident,
    p99: latenciesBetween(answered, start, end).p99,
    idle: latenciesBetween(answered, start - WARM_UP, start).p99,
  };
}

async function shortList(subject: Subject, database: JobsDatabase) {
  const daemon = await subject.start(database.dataDir);
  const times: number[] = [];
  const alone: number[] = [];
  const answer = (await (await daemon.call('GET', '/v1/snitches')).json()) as unknown[];
  if (answer.length !== database.jobs.count) throw new Error(`${answer.length} snitches were listed`);
  for (let count = 0; count < TIMES; count += 1) {
    times.push((await readAll(daemon)).milliseconds);
    alone.push(observe(database.dataDir, (db, tables) => timeAlone(() => tables.readList(db), answer)));
  }
  await daemon.end();
  return { short: median(times), alone: median(alone) };
}

/** The least that any program would need: reading the rows from SQLite, and making the text of the answer. */
function timeAlone(readRows: () => unknown[], answer: unknown[]): number {
  const before = performance.now();
  const rows = readRows();
  JSON.stringify(answer);
  const took = performance.now() - before;
  if (rows.length !== answer.length)
    throw new Error(`SQLite has ${rows.length} snitches, the list ${answer.length}`);
  return took;
}

/** Reads the list as it comes, and keeps nothing of it. */
async function readAll({ url, apiKey }: Daemon): Promise<{ milliseconds: number; size: number }> {
  const before = performance.now();
  const headers = { authorization: `Basic ${btoa(`${apiKey}:`)}` };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(`${url}/v1/snitches`, { headers }, (response) => {
    let size = 0;
    if (response.statusCode !== 200) reject(new Error(`the list was answered ${response.statusCode}`));
    response.on('data', (part: Buffer) => {
      size += part.length;
    });
    response.on('end', () => resolve(size)).on('error', reject);
  }).on('error', reject);
  const size = await promise;
  return { milliseconds: performance.now() - before, size };
}
