/** A bare `node:http` server that answers each request like a check-in: what Node itself can do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Workplace } from '../workplace.ts';

const SERVER = `
  const http = require('node:http');
  const headers = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store', 'content-length', '16'];
  http.createServer((request, response) => {
    response.writeHead(202, headers);
    response.end('Got it, thanks!\\n');
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

export interface BareServer {
  url: string;
  end(): void;
}

export async function startBareServer(workplace: Workplace): Promise<BareServer> {
  const child = workplace.holds(
    spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const [port] = await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${String(port).trim()}`, end: () => void child.kill() };
}
