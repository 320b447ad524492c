/** Keeps Node quiet about certificate authorities on systems that have none. */
const { existsSync } = process.getBuiltinModule('node:fs');

/** Where the OpenSSL inside Node looks for authorities. */
const DIRECTORY = '/etc/ssl/certs';

/**
 * On a host without ca-certificates Node prints a warning in every process that uses TLS, though it has authorities
 * of its own. The variable that prevents this is removed before a job could inherit it.
 *
 * @param env the environment of this process
 */
export function expectNoAuthorities(env: NodeJS.ProcessEnv): void {
  if (env.SSL_CERT_DIR !== undefined || existsSync(DIRECTORY)) return;
  env.SSL_CERT_DIR = '';
  // Node reads them only once, when they are first needed.
  process.getBuiltinModule('node:tls').getCACertificates('system');
  delete env.SSL_CERT_DIR;
}
