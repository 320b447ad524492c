/** Reads Server-Sent Events, as `/v1/stream` sends them. */
import { DELETED, type Shape, SNITCH } from './shapes.ts';
import type { WireSnitch } from './wire.ts';

/** No event is longer than this, in characters; the longest of ours is the whole of one snitch. */
const LONGEST = 1024 * 1024;

/** What the stream says is not what a Snitch server of this version says. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent';

  constructor(fault: string) {
    super(`what the stream of changes says is not understood: ${fault}`);
  }
}

export interface StreamEvent {
  /** `snitch`, `deleted`, `informed` or `reset`. */
  event: string;
  data: string;
  /** What `Last-Event-ID` may name later; null where the event carries none of its own. */
  id: string | null;
}

/**
 * @returns a function that takes text as it arrives and answers with the events that are complete; it throws
 * UnknownEvent where one has no end
 */
export function createEventParser(): (chunk: string) => StreamEvent[] {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > LONGEST) throw new UnknownEvent('an event has no end');
    return blocks.map(parseBlock).filter((event) => event !== null);
  };
}

function parseBlock(block: string): StreamEvent | null {
  const event: StreamEvent = { event: 'message', data: '', id: null };
  let isEmpty = true;
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    if (field === 'event') event.event = value;
    else if (field === 'id') event.id = value;
    else if (field === 'data') event.data += event.data === '' ? value : `\n${value}`;
    else continue;
    isEmpty = false;
  }
  return isEmpty ? null : event;
}

/**
 * What an event tells of one snitch; nothing of either where it is of another kind.
 *
 * @throws UnknownEvent where its data have not the shape that its kind demands
 */
export function readChange({ event, data }: StreamEvent): { changed?: WireSnitch; deleted?: string } {
  if (event === 'snitch') return { changed: understand(event, data, SNITCH) };
  if (event === 'deleted') return { deleted: understand(event, data, DELETED).token };
  return {};
}

function understand<T>(event: string, data: string, shape: Shape<T>): T {
  let given: unknown;
  try {
    given = JSON.parse(data);
  } catch {
    throw new UnknownEvent(`the data of an event "${event}" are not JSON`);
  }
  const fault = shape(given);
  if (fault !== null) throw new UnknownEvent(`an event "${event}" ${fault}`);
  return given as T;
}
