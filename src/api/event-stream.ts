/** Reads Server-Sent Events, as `/v1/stream` sends them. */
import type { Shape } from './shape.ts';
import { DELETED, SNITCH } from './snitch-shapes.ts';
import type { WireSnitch } from './wire.ts';

/** No event is longer than this, in characters. The longest ones contain a whole snitch. */
const LONGEST = 1024 * 1024;

/** The stream does not say what a Snitch server of this version would say. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent';

  constructor(fault: string) {
    super(`cannot understand the stream of changes: ${fault}`);
  }
}

export interface StreamEvent {
  /** `snitch`, `deleted`, `silences`, `informed` or `reset`. */
  event: string;
  data: string;
  /** The id to send as `Last-Event-ID` later; null if the event has none. */
  id: string | null;
}

/**
 * @returns a function that takes text as it arrives and returns the events that are complete; it throws UnknownEvent if
 * an event has no end
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
    const [, field, value = ''] = /^([^:]+): ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') event.event = value;
    else if (field === 'id') event.id = value;
    else if (field === 'data') event.data += event.data === '' ? value : `\n${value}`;
    else continue;
    isEmpty = false;
  }
  return isEmpty ? null : event;
}

/**
 * What an event says about one snitch; neither field if it is an event of another kind.
 *
 * @throws UnknownEvent if the data does not have the shape of its kind
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
    throw new UnknownEvent(`the data of an event "${event}" is not JSON`);
  }
  const fault = shape(given);
  if (fault !== null) throw new UnknownEvent(`an event "${event}" ${fault}`);
  return given as T;
}
