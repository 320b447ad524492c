/** Starts a cluster, says where, and waits to be killed: what a test that is killed leaves behind. */
import { startCluster } from './cluster.ts';

const cluster = await startCluster();
console.log(JSON.stringify({ pid: cluster.server.pid, directory: cluster.socketDirectory }));
setInterval(() => undefined, 60_000);
