/** Stops the daemon in the order that loses nothing: what takes work in ends first, the store that keeps it last. */
import { closeConnections, drain } from '../http/drain.ts';
import type { Foundation, Parts } from './parts.ts';

/** How long clients that have not sent their request yet are waited for, in milliseconds. */
const DRAIN_WITHIN = 3_000;

/** How long requests in flight may take to end, in milliseconds. */
const CLOSE_WITHIN = 4_000;

export async function stop(parts: Parts, { store, clock, manager, logger }: Foundation): Promise<void> {
  manager.stopping();
  parts.signsOfLife.stop();
  // A job that checks in from now on may find nobody to answer it, and no sweep may accuse it meanwhile.
  await parts.sweeper.halt();
  const heardUntil = clock();
  const answered = await stopServing(parts);
  // Where all were answered, the service manager's socket keeps those who come until the next start.
  const socket = answered ? parts.heldSocket : null;
  await parts.sweeper.stop(heardUntil, socket === null ? undefined : { socket });
  parts.endAlertLog();
  await parts.deliverer.stop();
  await parts.retention.stop();
  await store.close();
  logger.info('stopped');
}

/** @returns whether everybody was answered; false where connections had to be cut */
async function stopServing({ app, connections }: Parts): Promise<boolean> {
  let answered = true;
  const late = setTimeout(() => {
    answered = false;
    app.server.closeAllConnections();
  }, CLOSE_WITHIN);
  await drain(app.server, connections, DRAIN_WITHIN);
  await app.close();
  await closeConnections(app.server, connections);
  clearTimeout(late);
  return answered;
}
