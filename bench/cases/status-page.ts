/** How much the readers of the status page slow down check-ins. */
import { arm } from '../database/jobs-database.ts';
import { usualScene } from '../database/scene.ts';
import { latenciesBetween } from '../load/latencies.ts';
import { pace } from '../load/wrk.ts';
import { type Case, counted } from './case.ts';

/** Requests of the page a second. */
const LOOKS = 1_000;

const SLUG = 'bench';

/** Snitches on the page. */
const SHOWN = 50;

/** As every browser asks. */
const HEADERS = ['Accept-Encoding: gzip'];

export const statusPage: Case = {
  name: 'status-page',
  rounds: 3,
  onlyNamed: true,
  lines: ({ thousand, rate }) => [
    {
      what: `p99 of check-ins (${counted(rate)} a second, ${counted(thousand)} snitches) beside ${counted(LOOKS)} looks at a status page of ${SHOWN} snitches a second`,
      figure: 'beside',
      unit: 'ms',
      beside: { figure: 'alone', name: 'alone' },
    },
    {
      what: `The same, the ${counted(LOOKS)} requests going to another process`,
      figure: 'elsewhere',
      unit: 'ms',
      beside: { figure: 'alone', name: 'alone' },
    },
    { what: 'p99 of a look', figure: 'look', unit: 'ms' },
    { what: 'The page, before it is compressed', figure: 'bytes', unit: 'bytes' },
  ],
  async open(subject) {
    const { workplace, sizes, bare } = subject;
    const database = await subject.database(sizes.thousand);
    arm(database, usualScene(database.midnight));
    const daemon = await subject.start(database.dataDir);
    for (const token of database.tokens.slice(0, SHOWN)) {
      const tagged = await daemon.call('POST', `/v1/snitches/${token}/tags`, [SLUG]);
      if (!tagged.ok) throw new Error(`a tag was answered ${tagged.status}`);
    }
    const put = await daemon.call('PUT', '/v1/status_page', { slug: SLUG, tags: [SLUG] });
    if (!put.ok) throw new Error(`the status page was answered ${put.status}`);
    const page = `${daemon.url}/s/${SLUG}`;
    const bytes = (await (await fetch(page)).arrayBuffer()).byteLength;
    const paths = database.tokens.slice(0, 1_000).map((token) => `/c/${token}`);
    const checkIns = async (looked: string | null) => {
      const looks =
        looked === null ? null : pace(workplace, { ...at(looked), rate: LOOKS, headers: HEADERS });
      const own = pace(workplace, { url: daemon.url, paths, rate: sizes.rate });
      await new Promise((resolve) => setTimeout(resolve, sizes.seconds * 1_000));
      const all = (answered: Awaited<ReturnType<typeof own.end>>) =>
        latenciesBetween(answered, 0, Number.POSITIVE_INFINITY).p99;
      const took = all(await own.end());
      return { took, look: looks === null ? Number.NaN : all(await looks.end()) };
    };
    return {
      async round() {
        const alone = await checkIns(null);
        const elsewhere = await checkIns(`${bare.url}/s/${SLUG}`);
        const beside = await checkIns(page);
        const { look } = beside;
        return { alone: alone.took, elsewhere: elsewhere.took, beside: beside.took, look, bytes };
      },
      async end() {
        await daemon.call('DELETE', '/v1/status_page');
        await daemon.end();
      },
    };
  },
};

function at(address: string): { url: string; paths: string[] } {
  const { origin, pathname } = new URL(address);
  return { url: origin, paths: [pathname] };
}
