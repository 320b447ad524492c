/** What is used of autocannon, which brings no types. */
declare module 'autocannon' {
  interface Client {
    setRequests(requests: readonly { path: string }[]): void;
  }
  interface Options {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    setupClient(client: Client): void;
  }
  interface Result {
    non2xx: number;
    errors: number;
    timeouts: number;
    requests: { average: number };
    /** Milliseconds. */
    latency: { p50: number; p99: number; max: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
