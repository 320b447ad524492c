/** What the dashboard prints where there is no terminal, with scripted answers of the server. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFakeServer } from '../cli/fake-server.ts';
import { runSnitchWith } from '../cli/piped.ts';
import { HOUR, iso, MINUTE, snitch } from './samples.ts';

const test = suite('the dashboard without a terminal');

/** The server's clock is two hours ahead of this host's. */
const AHEAD = 2 * HOUR;

test("times are counted by the server's clock", async () => {
  const now = Date.now() + AHEAD;
  const job = snitch('job', {
    checked_in_at: iso(now - 10 * MINUTE - 30_000),
    deadline: iso(now + 50 * MINUTE + 30_000),
    missing_since: null,
  });
  await using server = await startFakeServer(() => ({
    status: 200,
    headers: { date: new Date(Date.now() + AHEAD).toUTCString() },
    body: [job],
  }));
  const env = { SNITCH_URL: server.url, SNITCH_API_KEY: 'snk_key' };
  const { code, stdout, stderr } = await runSnitchWith('', ['dashboard'], env);
  assert.equal([code, stderr], [0, '']);
  assert.match(stdout, /healthy job .* 10m +50m$/m);
});

test.run();
