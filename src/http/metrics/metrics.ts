/** `/metrics` for Prometheus. What can be counted when Prometheus asks is counted then, the rest as it happens. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Settlement } from '../../core/delivery.ts';
import { NotFound } from '../../core/errors.ts';
import type { Channel } from '../../core/routing.ts';
import type { Commit, Store } from '../../store/store.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { isFromThisHost } from './loopback.ts';

const MILLISECONDS = 1_000;

/** Gauges of the library whose names only counters may have. The same numbers are in the series without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const CHANNELS: readonly Channel[] = ['webhook', 'email'];
const RESULTS: readonly Settlement['kind'][] = ['delivered', 'retry', 'dead', 'released'];

export class Metrics {
  readonly registry = new Registry();
  readonly #checkIns = new Counter({
    name: 'snitch_check_ins_total',
    help: 'Check-ins by the answer they got.',
    labelNames: ['answer'],
    registers: [this.registry],
  });
  readonly deliveries = new Counter({
    name: 'snitch_deliveries_total',
    help: 'Attempts to deliver an alert, by channel and result.',
    labelNames: ['channel', 'result'],
    registers: [this.registry],
  });
  readonly #batch = new Histogram({
    name: 'snitch_commit_calls',
    help: 'Store calls that one commit served.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [this.registry],
  });
  readonly #commit = new Histogram({
    name: 'snitch_commit_seconds',
    help: 'Duration of a transaction, without the sync of the disk.',
    buckets: [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5],
    registers: [this.registry],
  });
  readonly #snitches = this.#gauge('snitch_snitches', 'Snitches by status.', ['status']);
  readonly #sweepLag = this.#gauge(
    'snitch_sweep_lag_seconds',
    'Age of the oldest due time that was not swept.',
  );
  readonly #outboxDepth = this.#gauge('snitch_outbox_deliveries', 'Deliveries that are not finished.');
  readonly #outboxAge = this.#gauge('snitch_outbox_oldest_seconds', 'Age of the oldest alert in the outbox.');
  readonly #blind = this.#gauge('snitch_blind_seconds', 'Length of all blind windows that are kept.');
  readonly #syncs = new Counter({
    name: 'snitch_store_syncs_total',
    help: 'Syncs of the disk since the start.',
    registers: [this.registry],
  });
  readonly #syncsByOldName = this.#gauge(
    'snitch_store_syncs',
    'The same as snitch_store_syncs_total, under its name from before.',
  );

  /** Counters of check-ins by their answer. The labels are looked up here, once, and not for every check-in. */
  readonly answered = {
    recorded: this.#checkIns.labels('recorded'),
    unknown: this.#checkIns.labels('unknown'),
    refused: this.#checkIns.labels('refused'),
  };

  /** @param version of this program */
  constructor(version = '0') {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.#gauge('snitch_build_info', 'Always 1: the version of this program and of its Node.', [
      'version',
      'node',
    ]).set({ version, node: process.versions.node }, 1);
    // A series that only appears with its first event shows no increase for it, and there may never be a second one.
    for (const answer of ['recorded', 'unknown', 'refused']) this.#checkIns.inc({ answer }, 0);
    for (const channel of CHANNELS) for (const result of RESULTS) this.deliveries.inc({ channel, result }, 0);
  }

  committed({ calls, durationMs }: Commit): void {
    this.#batch.observe(calls);
    this.#commit.observe(durationMs / MILLISECONDS);
  }

  /** Everything in the text format of Prometheus. */
  async text(store: Store, now: number): Promise<string> {
    const { snitches, outbox, firstDueAt, blindMs } = await store.census();
    for (const status of ['pending', 'healthy', 'failed', 'errored', 'paused'] as const) {
      this.#snitches.set({ status }, snitches[status] ?? 0);
    }
    this.#sweepLag.set(age(firstDueAt, now));
    this.#outboxDepth.set(outbox.pending);
    this.#outboxAge.set(age(outbox.oldestAlertAt, now));
    this.#blind.set(blindMs / MILLISECONDS);
    const { syncs } = store.health();
    this.#syncs.reset();
    this.#syncs.inc(syncs);
    this.#syncsByOldName.set(syncs);
    return this.registry.metrics();
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

function age(at: number | null, now: number): number {
  return at === null ? 0 : Math.max(0, now - at) / MILLISECONDS;
}

/** What `/metrics` needs: the figures, who asks for them, and who may. */
export interface MetricsContext extends Pick<RouteContext, 'store' | 'clock' | 'addresses'> {
  metrics: Metrics;
  metricsArePublic: () => boolean;
  /** The address that a request came from, behind trusted proxies too. */
  sourceOf: (request: IncomingMessage) => string | null;
  /** Whether a trusted proxy sent a request; none is trusted when absent. */
  isProxied?: (request: IncomingMessage) => boolean;
}

/** For callers on this host only, unless the configuration says otherwise; others are told that nothing is here. */
export function metricsRoutes(app: FastifyInstance, context: MetricsContext): void {
  const { store, clock, metrics, metricsArePublic, sourceOf, isProxied = () => false, addresses } = context;
  const isLocal = ({ raw }: FastifyRequest) =>
    isFromThisHost(raw, { source: sourceOf(raw), isProxied: isProxied(raw), baseUrl: addresses().baseUrl });
  resource(
    app,
    '/metrics',
    {
      GET: async (request, reply) => {
        if (!metricsArePublic() && !isLocal(request)) {
          throw new NotFound('There is nothing at this path.');
        }
        return reply.type(metrics.registry.contentType).send(await metrics.text(store, clock()));
      },
    },
    { audience: 'any' },
  );
}
