/** What is claimed ahead of sending, for how long, and after which target the next claim goes on. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClaimedDelivery } from '../../src/core/delivery.ts';
import { Claims } from '../../src/delivery/outbox/claims.ts';
import type { ClaimRequest } from '../../src/store/deliveries.ts';
import { anAlert } from './alerts.ts';

const test = suite('claims');

const PACE = { timeout: 30_000, perTarget: 4, fast: 1, slow: 1, slowAfter: 1_000 };
const INTAKE = { perTarget: 8, waiting: 100, settling: 15_000, gathering: 5_000 };

function claimOf(target: string): ClaimedDelivery {
  const owner = { id: 'case_1', name: 'Operations', timezone: 'UTC' };
  const known = { id: 1, fence: 1, attempt: 1, lastError: null, channel: 'webhook', webhook: null } as const;
  return { ...known, target, alert: anAlert(), case: owner };
}

test('a lease has time for the send itself, one before it, and settling', async () => {
  const clock = { now: 5_000_000, monotonic: 700 };
  const requests: ClaimRequest[] = [];
  const claims = new Claims({
    clock: () => clock.now,
    monotonic: () => clock.monotonic,
    store: {
      claimDeliveries: async (request) => {
        requests.push(request);
        // The time that claiming takes counts towards the lease.
        clock.now += 1_000;
        clock.monotonic += 1_000;
        return [claimOf('a')];
      },
    },
  });
  const taken = await claims.take({ kind: 'webhook', pace: PACE }, INTAKE, 64, ['busy']);
  assert.equal(taken, { claims: [claimOf('a')], leaseEnds: 700 + 75_000 });
  assert.equal(requests, [
    {
      now: 5_000_000,
      channel: 'webhook',
      leaseUntil: 5_000_000 + 75_000,
      perTarget: 8,
      limit: 64,
      busy: ['busy'],
      after: '',
    },
  ]);
});

test('the next claim goes on after the last target, and starts over if nothing was left', async () => {
  const found = [['a', 'b', 'c'], ['d'], [], ['a']];
  const after: string[] = [];
  const claims = new Claims({
    clock: () => 0,
    monotonic: () => 0,
    store: {
      claimDeliveries: async (request) => {
        after.push(request.after);
        return (found[after.length - 1] ?? []).map(claimOf);
      },
    },
  });
  for (const _ of found) await claims.take({ kind: 'webhook', pace: PACE }, INTAKE, 64, []);
  assert.equal(after, ['', 'c', 'd', '']);
});

test.run();
