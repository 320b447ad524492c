/** Reads Server-Sent Events, as `/v1/stream` sends them. */

export interface StreamEvent {
  /** `snitch`, `deleted`, `informed` or `reset`. */
  event: string;
  data: string;
  /** What `Last-Event-ID` may name later; null where the event carries none of its own. */
  id: string | null;
}

/** @returns a function that takes text as it arrives and answers with the events that are complete */
export function createEventParser(): (chunk: string) => StreamEvent[] {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
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
