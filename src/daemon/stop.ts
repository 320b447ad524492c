/** Stops the daemon in an order that loses nothing: first what accepts work, last the store that keeps it. */
import { closeConnections, drain } from '../http/drain.ts';
import type { Foundation, Parts } from './parts.ts';

/** How long to wait for clients that have not sent their request yet, in milliseconds. */
const DRAIN_WITHIN = 3_000;

/** How long requests in flight may take to finish, in milliseconds. */
const CLOSE_WITHIN = 4_000;

export async function stop(parts: Parts, { store, clock, manager, logger }: Foundation): Promise<void> {
  manager.stopping();
  parts.signsOfLife.stop();
  await store.node?.leave();
  // From now on a check-in may find nobody to answer it, so no sweep may report its job missing.
  await parts.sweeper.halt();
  const heardUntil = clock();
  const answered = await stopServing(parts);
  // If everybody was answered, the service manager's socket keeps new clients waiting until the next start.
  const socket = answered ? parts.heldSocket : null;
  if (socket !== null) await store.node?.leaveHeld(socket);
  await parts.sweeper.stop(heardUntil, socket === null ? undefined : { socket });
  parts.endAlertLog();
  await parts.deliverer.stop();
  await parts.retention.stop();
  await store.close();
  logger.info('stopped');
}

/** @returns whether everybody was answered; false if connections had to be cut */
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
