/** Failures of a connection are described in one line, without secrets. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorText, failureInWords } from '../../src/delivery/messages/failure.ts';

const test = suite('failures in words');

const HOST = 'hook.example:443';

function told(code: string, more: object = {}): string {
  return failureInWords(Object.assign(new Error('as Node says'), { code, ...more }), HOST);
}

test('each description says what to check', () => {
  const words: Record<string, string> = {
    ECONNREFUSED: `connection refused by ${HOST}`,
    ECONNRESET: `connection closed by ${HOST} before its answer was complete`,
    UND_ERR_SOCKET: `connection closed by ${HOST} before its answer was complete`,
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: `connection closed by ${HOST} before its answer was complete`,
    UND_ERR_CONNECT_TIMEOUT: `no connection to ${HOST} in time`,
    EPIPE: `connection closed by ${HOST} before its answer was complete`,
    ETIMEDOUT: `no connection to ${HOST} in time`,
    ENOTFOUND: `${HOST} has no address: the name does not exist`,
    EAI_AGAIN: `the address of ${HOST} cannot be looked up: no name server answers`,
    EHOSTUNREACH: `no route to ${HOST}`,
    ENETUNREACH: `no route to ${HOST}`,
    EMFILE: 'too many open files in this process',
    UND_ERR_HEADERS_OVERFLOW: `the answer's headers from ${HOST} are too large`,
    ERR_SSL_WRONG_VERSION_NUMBER: `${HOST} does not speak TLS on this port`,
    CERT_HAS_EXPIRED: `the certificate of ${HOST} is not valid: as Node says`,
    ERR_TLS_CERT_ALTNAME_INVALID: `the certificate of ${HOST} is not valid: as Node says`,
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: `TLS with ${HOST} failed: as Node says`,
    EPROTO: `TLS with ${HOST} failed: as Node says`,
    EWHATEVER: 'as Node says (EWHATEVER)',
  };
  for (const [code, text] of Object.entries(words)) assert.is(told(code), text, code);
  assert.is(failureInWords(new Error('plain'), HOST), 'plain');
  assert.is(failureInWords('a text', HOST), 'a text');
});

test('what Node.js advises whoever starts it is not told to whoever reads the failure', () => {
  const advice = '; if the root CA is installed locally, try running Node.js with --use-system-ca';
  const error = Object.assign(new Error(`self-signed certificate${advice}`), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  });
  assert.is(failureInWords(error, HOST), `the certificate of ${HOST} is not valid: self-signed certificate`);
});

test('the address that failed is named if it is known', () => {
  assert.is(told('ECONNREFUSED', { address: '192.0.2.1', port: 25 }), 'connection refused by 192.0.2.1:25');
  assert.is(
    told('ECONNREFUSED', { address: '2001:db8::1', port: 25 }),
    'connection refused by [2001:db8::1]:25',
  );
  assert.is(told('ECONNREFUSED', { address: '192.0.2.1' }), `connection refused by ${HOST}`);
  assert.is(told('ECONNREFUSED', { port: 25 }), `connection refused by ${HOST}`);
});

test('a name with several addresses fails once for each, and equal failures are said once', () => {
  const refused = (address: string) =>
    Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address, port: 443 });
  const error = new AggregateError([refused('192.0.2.1'), refused('192.0.2.2'), refused('192.0.2.1')]);
  assert.is(
    failureInWords(error, HOST),
    'connection refused by 192.0.2.1:443; connection refused by 192.0.2.2:443',
  );
});

test('no spelling of a secret is shown; a text of three letters is too short to be one', () => {
  const secret = 'pa"ss w/ö';
  const spellings = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ];
  for (const spelling of spellings) assert.is(errorText(`it was ${spelling}!`, [secret]), 'it was ***!');
  assert.is(errorText('abcd abcde', ['abcd', 'abcde']), '*** ***', 'the longer one first');
  assert.is(errorText('abc abcd', ['abc']), 'abc abcd');
  assert.is(failureInWords(new Error('no, token-1'), HOST, ['token-1']), 'no, ***');
});

test('it is one line of at most 300 characters', () => {
  assert.is(errorText('a\nb\u001b[31m'), 'a\\nb\\u001b[31m');
  assert.is(errorText('x'.repeat(300)).length, 300);
  assert.is(errorText('x'.repeat(301)), `${'x'.repeat(299)}…`);
});

test.run();
