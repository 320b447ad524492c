/** The certificate authorities that the system trusts. Where there are none, Node has to be told so. */
const { existsSync } = process.getBuiltinModule('node:fs');

/** Where OpenSSL looks, as Node brings it. */
const DIRECTORY = '/etc/ssl/certs';

/**
 * On a host without ca-certificates Node prints a line for every process in which anything has to do with TLS, though
 * it brings authorities of its own. The variable that keeps it quiet is gone before a job could inherit it.
 *
 * @param env the process's own
 */
export function expectNoAuthorities(env: NodeJS.ProcessEnv): void {
  if (env.SSL_CERT_DIR !== undefined || existsSync(DIRECTORY)) return;
  env.SSL_CERT_DIR = '';
  // They are read once, by the first who asks.
  process.getBuiltinModule('node:tls').getCACertificates('system');
  delete env.SSL_CERT_DIR;
}
