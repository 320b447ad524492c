/** If a server asks to wait, the command waits; other failures are not tried again. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiError } from '../../../src/api/client.ts';
import { patiently } from '../../../src/cli/file/apply-steps.ts';

const test = suite('patience of apply');

/** Fails this many times, then returns `done`; counts the calls. */
function failing(times: number, error: ApiError) {
  const calls = { count: 0 };
  const request = async () => {
    calls.count += 1;
    if (calls.count <= times) throw error;
    return 'done';
  };
  return { calls, request };
}

const refusal = (status: number, retryAfterS: number | null) => new ApiError(status, null, retryAfterS);

test('it tries again if the server said after how long', async () => {
  for (const status of [429, 503]) {
    const { calls, request } = failing(3, refusal(status, 0));
    assert.is(await patiently(request), 'done', String(status));
    assert.is(calls.count, 4);
  }
});

test('it gives up at once if the server did not ask to wait', async () => {
  for (const error of [refusal(503, null), refusal(500, 0), refusal(404, 0), refusal(429, 301)]) {
    const { calls, request } = failing(3, error);
    const failure = await patiently(request).catch((thrown: unknown) => thrown);
    assert.is(failure, error);
    assert.is(calls.count, 1);
  }
});

test('it gives up if the server keeps asking to wait', async () => {
  const error = refusal(503, 0);
  const { calls, request } = failing(1_000, error);
  assert.is(await patiently(request).catch((thrown: unknown) => thrown), error);
  assert.is(calls.count, 10);
});

test.run();
