/** What the server hands to the functions that add its routes. */
import type { FastifyRequest } from 'fastify';
import type { WireMailCheck } from '../../api/wire.ts';
import type { Acts } from '../../store/activity.ts';
import type { Store } from '../../store/store.ts';
import type { Lists } from './lists.ts';

export interface Addresses {
  /** Where clients reach the API, without a slash at the end. */
  baseUrl: string;
  /** What check-in addresses begin with, without a slash at the end. */
  checkInBase: string;
}

export interface Readiness {
  problems: readonly string[];
  progress: readonly string[];
  warnings?: readonly string[];
  /** Whether the only problem is that the daemon has not finished its start. */
  isStarting?: boolean;
}

export interface RouteContext {
  store: Store;
  clock: () => number;
  addresses: () => Addresses;
  /** Says what keeps the daemon from doing its work, and what is taking a while; both are usually empty. */
  readiness: () => Readiness;
  /** Logs in to the mail server, and sends a test mail if there is a recipient; null if email is off. */
  checkMail: (recipient: string | null) => Promise<WireMailCheck | null>;
  /** Whether a mail server is configured. */
  sendsEmail: () => boolean;
  /** The names of the commands in the configuration. */
  commands: () => readonly string[];
  /** Why nothing would ever be sent to a URL, in words; null if it may be. Null too for a name: it may move. */
  refusalOf: (url: string) => string | null;
  /** The version of this program. */
  version?: string;
}

/** What the routes below `/v1` also get. */
export interface ApiContext extends RouteContext {
  lists: Lists;
  /** The operations that change something, in the name of the key that came with the request; without `at`, now. */
  by: (request: FastifyRequest, at?: number) => Acts;
}
