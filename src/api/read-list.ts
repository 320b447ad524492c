/** Reads the answer to a call as a list that may be too long to be a text or to be kept. */
import { AnswerNotUnderstood, LARGEST_ANSWER, type ReadAnswer, understand } from './exchange.ts';
import { ArrayPieces } from './pieces.ts';
import { list, type Shape } from './shape.ts';

const ANY_LIST = list(() => null);

/** @param take is given the items in order, some at a time; the reading ends if it returns false */
export function readPieces<T>(item: Shape<T>, take: (items: readonly T[]) => boolean): ReadAnswer<unknown> {
  return async (url, request, response, onPart) => {
    const pieces = new ArrayPieces();
    let count = 0;
    const goesOn = (items: readonly unknown[]) => {
      for (const one of items) {
        const fault = item(one, `[${count}]`);
        if (fault !== null) throw new AnswerNotUnderstood(url, request, fault);
        count += 1;
      }
      return take(items as readonly T[]);
    };
    for await (const chunk of response as AsyncIterable<Buffer>) {
      onPart();
      const items = pieces.add(chunk);
      if (items.length > 0 && !goesOn(items)) return;
      if (pieces.waiting > LARGEST_ANSWER) throw new Error('the answer is too large');
    }
    // The items are checked one by one, because only here is known how many came before.
    goesOn(understand(url, { ...request, shape: ANY_LIST }, () => pieces.end()) as readonly unknown[]);
  };
}
