/** The service of packaging/compose.yaml, so that what is tested is what people copy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface ComposeService {
  image: string;
  ports: string[];
  environment: Record<string, string>;
  volumes: string[];
  healthcheck: { test: string[] };
  user: string;
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
}

export function composeService(): ComposeService {
  const path = join(import.meta.dirname, '../../packaging/compose.yaml');
  return (parse(readFileSync(path, 'utf8')) as { services: { snitch: ComposeService } }).services.snitch;
}
