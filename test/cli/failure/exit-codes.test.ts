/** The exit code of a failure: scripts rely on it, so each is written down here once more. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiError } from '../../../src/api/client.ts';
import {
  AuthenticationError,
  describeFailure,
  Failure,
  NotFoundError,
  UsageError,
} from '../../../src/cli/failure/failure.ts';

const test = suite('exit codes');

test('for answers of the server', () => {
  const codes = [401, 403, 404, 409, 422, 429, 500, 502, 503, 504].map((status) => [
    status,
    describeFailure(new ApiError(status, null, null)).exitCode,
  ]);
  assert.equal(codes, [
    [401, 4],
    [403, 4],
    [404, 3],
    [409, 1],
    [422, 1],
    [429, 1],
    [500, 1],
    [502, 5],
    [503, 5],
    [504, 5],
  ]);
});

test('for failures that the command finds itself', () => {
  const codeOf = (error: unknown) => describeFailure(error).exitCode;
  assert.is(codeOf(new Failure('x')), 1);
  assert.is(codeOf(new UsageError('x')), 2);
  assert.is(codeOf(new NotFoundError('x')), 3);
  assert.is(codeOf(new AuthenticationError('x')), 4);
  assert.is(codeOf(new Error('x')), 1);
});

test.run();
