/** Starts a cluster, prints its place, and waits to be killed, as a test would. */
import { startCluster } from './cluster.ts';

const cluster = await startCluster();
console.log(JSON.stringify({ pid: cluster.server.pid, directory: cluster.socketDirectory }));
setInterval(() => undefined, 60_000);
