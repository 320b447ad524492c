/** `/metrics` for Prometheus. What the store can count is counted at each scrape, everything else as it happens. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { CHANNEL_KINDS } from '../../core/channel.ts';
import type { Settlement } from '../../core/delivery.ts';
import { NotFound } from '../../core/errors.ts';
import type { Channel } from '../../core/routing.ts';
import type { LastValue } from '../../store/server-notes.ts';
import type { Commit, Store } from '../../store/store.ts';
import { SECOND } from '../../text/durations.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { AnswerTimes } from './answer-times.ts';
import { HOST_FAMILIES, type HostFigures, hostText } from './host-figures.ts';
import { isFromThisHost } from './loopback.ts';
import { type Family, gaugeHead, labelValue } from './series-text.ts';

/** Gauges of the library that are named as if they were counters. Its series without `_total` have the same numbers. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const CHANNELS: readonly Channel[] = ['webhook', 'email', ...CHANNEL_KINDS];
const RESULTS: readonly Settlement['kind'][] = ['delivered', 'retry', 'dead', 'released'];

export class Metrics {
  readonly registry = new Registry();
  readonly #checkIns = new Counter({
    name: 'snitch_check_ins_total',
    help: 'Total number of check-ins by answer: recorded, unknown (no such snitch) or refused (not stored).',
    labelNames: ['answer'],
    registers: [this.registry],
  });
  readonly deliveries = new Counter({
    name: 'snitch_deliveries_total',
    help: 'Total number of delivery attempts by channel and result: delivered, retry, dead or released.',
    labelNames: ['channel', 'result'],
    registers: [this.registry],
  });
  readonly #batch = new Histogram({
    name: 'snitch_commit_calls',
    help: 'Number of store calls per commit.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [this.registry],
  });
  readonly #commit = new Histogram({
    name: 'snitch_commit_seconds',
    help: 'Duration of a transaction in seconds, excluding the disk sync.',
    buckets: [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5],
    registers: [this.registry],
  });
  readonly #snitches = this.#gauge('snitch_snitches', 'Number of snitches by status.', ['status']);
  readonly #sweepLag = this.#gauge(
    'snitch_sweep_lag_seconds',
    'Seconds since the oldest due snitch became due, 0 if none is due.',
  );
  readonly #outboxDepth = this.#gauge(
    'snitch_outbox_deliveries',
    'Number of pending deliveries in the outbox.',
  );
  readonly #outboxWaiting = this.#gauge(
    'snitch_outbox_waiting_deliveries',
    'Number of pending deliveries that were decided to wait for `after` or for the hours of their target.',
  );
  readonly #outboxAge = this.#gauge(
    'snitch_outbox_oldest_seconds',
    'Age in seconds of the oldest alert with a pending delivery that need not wait for its time, 0 if there is none.',
  );
  readonly #blind = this.#gauge(
    'snitch_blind_seconds',
    'Total duration in seconds of the blind windows on record, in which no check-in could be received.',
  );
  readonly #ready = this.#gauge(
    'snitch_ready',
    'Whether the daemon does all of its work, as /readyz says: 1 if so, else 0.',
  );
  readonly #syncs = new Counter({
    name: 'snitch_store_syncs_total',
    help: 'Total number of disk syncs by the store.',
    registers: [this.registry],
  });
  readonly #syncsByOldName = this.#gauge('snitch_store_syncs', 'Deprecated: use snitch_store_syncs_total.');

  /** Not in the registry, like `HOST_FAMILIES` and `VALUES`. */
  readonly checkInTimes = new AnswerTimes({
    name: 'snitch_check_in_seconds',
    help: 'Time in seconds from the head of a recorded check-in to its answer.',
  });

  /** Counters of check-ins by answer. Their labels are looked up once, because every check-in takes this path. */
  readonly answered = {
    recorded: this.#checkIns.labels('recorded'),
    unknown: this.#checkIns.labels('unknown'),
    refused: this.#checkIns.labels('refused'),
  };

  /** @param version of this program */
  constructor(version = '0') {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.#gauge(
      'snitch_build_info',
      'A metric with a constant value of 1, labeled by the version of Snitch and of the Node.js it runs on.',
      ['version', 'node'],
    ).set({ version, node: process.versions.node }, 1);
    // If a series appeared only with its first event, `increase()` would never see that event, perhaps the only one.
    for (const answer of ['recorded', 'unknown', 'refused']) this.#checkIns.inc({ answer }, 0);
    for (const channel of CHANNELS) for (const result of RESULTS) this.deliveries.inc({ channel, result }, 0);
  }

  committed({ calls, durationMs }: Commit): void {
    this.#batch.observe(calls);
    this.#commit.observe(durationMs / SECOND);
  }

  /** Every metric there is, without those of the library. */
  families(): (Family & { type: string })[] {
    const registered = this.registry.getMetricsAsArray() as unknown as (Family & { type: string })[];
    const own = registered.filter(({ name }) => name.startsWith('snitch_'));
    return [
      ...own.map(({ name, help, type }) => ({ name, help, type })),
      { ...this.checkInTimes.family, type: 'histogram' },
      ...HOST_FAMILIES.map(({ name, help, type = 'gauge' }) => ({ name, help, type })),
      { ...VALUES, type: 'gauge' },
    ];
  }

  /** Everything in the text format of Prometheus. */
  async text(store: Store, now: number, { ready, host, showsValues }: Shown): Promise<string> {
    const { snitches, outbox, firstDueAt, blindMs, lastValues } = await store.census();
    for (const status of ['pending', 'healthy', 'failed', 'errored', 'paused'] as const) {
      this.#snitches.set({ status }, snitches[status] ?? 0);
    }
    this.#sweepLag.set(age(firstDueAt, now));
    this.#outboxDepth.set(outbox.pending);
    this.#outboxWaiting.set(outbox.waiting);
    this.#outboxAge.set(age(outbox.oldestAlertAt, now));
    this.#blind.set(blindMs / SECOND);
    this.#ready.set(ready ? 1 : 0);
    const { syncs } = store.health();
    this.#syncs.reset();
    this.#syncs.inc(syncs);
    this.#syncsByOldName.set(syncs);
    // Not in the registry, which simultaneous requests share, while perhaps only one of them may see names.
    const values = showsValues ? valuesText(lastValues) : '';
    return `${await this.registry.metrics()}${this.checkInTimes.text()}${host ? hostText(host, now) : ''}${values}`;
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

/**
 * GET /v1/metrics now has these, with a key. Here only callers on this host still see them, because they may rely on
 * it.
 */
const VALUES: Family = {
  name: 'snitch_value',
  help: 'Deprecated: use snitch_reported_value of /v1/metrics. Number that a job reported last; at most 1000 of them, and only for this host.',
};

function valuesText(values: readonly LastValue[]): string {
  const lines = values.map(({ case: ofCase, snitch, value, last }) => {
    const labels = Object.entries({ case: ofCase, snitch, value }).map(
      ([name, text]) => `${name}="${labelValue(text)}"`,
    );
    return `${VALUES.name}{${labels.join(',')}} ${last}\n`;
  });
  // Snitches with the same name cannot be told apart here, and a scrape with two equal lines is refused.
  return `${gaugeHead(VALUES)}${[...new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line])).values()].join('')}`;
}

function age(at: number | null, now: number): number {
  return at === null ? 0 : Math.max(0, now - at) / SECOND;
}

interface Shown {
  ready: boolean;
  host: HostFigures | null;
  /** Whether the names of snitches may be shown. */
  showsValues: boolean;
}

/** What `/metrics` needs to know: the figures, who requests them, and who may see them. */
export interface MetricsContext extends Pick<RouteContext, 'store' | 'clock' | 'addresses' | 'readiness'> {
  metrics: Metrics;
  metricsArePublic: () => boolean;
  /** The address that a request came from, even through trusted proxies. */
  sourceOf: (request: IncomingMessage) => string | null;
  /** Whether a trusted proxy sent a request; none is trusted when absent. */
  isProxied?: (request: IncomingMessage) => boolean;
  /** Nothing is known of the host when absent. */
  hostFigures?: () => Promise<HostFigures>;
}

/** Only for callers on this host, unless the configuration says otherwise. Others get the 404 of an unknown path. */
export function metricsRoutes(app: FastifyInstance, context: MetricsContext): void {
  const { store, clock, metrics, metricsArePublic, sourceOf, isProxied = () => false, addresses } = context;
  const isLocal = ({ raw }: FastifyRequest) =>
    isFromThisHost(raw, { source: sourceOf(raw), isProxied: isProxied(raw), baseUrl: addresses().baseUrl });
  resource(
    app,
    '/metrics',
    {
      GET: async (request, reply) => {
        const showsValues = isLocal(request);
        if (!metricsArePublic() && !showsValues) throw new NotFound('There is nothing at this path.');
        const host = (await context.hostFigures?.()) ?? null;
        const ready = context.readiness().problems.length === 0;
        const text = await metrics.text(store, clock(), { ready, host, showsValues });
        return reply.type(metrics.registry.contentType).send(text);
      },
    },
    { audience: 'any' },
  );
}
