import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits until the client has received what was written or is gone, and always for the next turn of the event loop. */
export async function room(response: ServerResponse): Promise<void> {
  if (response.writableNeedDrain && !response.destroyed) {
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }
  await nextTurn();
}
