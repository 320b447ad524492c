/** A message in its two layouts with the same content. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { asHtml, asText, type Letter } from '../../src/delivery/messages/letter.ts';

const FULL: Letter = {
  paragraphs: ['It is <missing>.', 'Nobody knows why.'],
  fields: [
    { label: 'Tags', value: 'a & b' },
    { label: 'Last check-in', value: 'one\ntwo' },
  ],
  lists: [
    { heading: 'Missing (2)', items: ['"web"', "o'db"] },
    { heading: 'Paused (1)', items: ['mail'] },
  ],
  output: 'first\n\nlast',
  commands: ['snitch show a', 'snitch alerts'],
  footer: 'You are told because <you> asked.',
};
const LEAST: Letter = { paragraphs: ['All is well.'], fields: [], lists: [], commands: [], footer: 'Bye.' };

const test = suite('letters');

test('as text: fields in columns, lists with dashes, output and commands indented, a signature', () => {
  assert.is(
    asText(FULL),
    [
      ...['It is <missing>.', '', 'Nobody knows why.', ''],
      ...['Tags:          a & b', 'Last check-in: one', '               two', ''],
      ...['Missing (2)', '  - "web"', "  - o'db", '', 'Paused (1)', '  - mail', ''],
      ...['The job printed:', '', '  first', '', '  last', ''],
      ...['To see more:', '  snitch show a', '  snitch alerts', ''],
      ...['-- ', 'You are told because <you> asked.', ''],
    ].join('\n'),
  );
  assert.is(asText(LEAST), 'All is well.\n\n-- \nBye.\n');
});

const HEAD = '<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>';

/** Without styles: how it looks is not tested. */
const htmlOf = (letter: Letter) => asHtml(letter).replace(/ style="[^"]*"/g, '');

test('as HTML: readable on a dark page as on a light one', () => {
  const html = asHtml({ ...FULL, link: { url: 'https://snitch.example.com/a/1.s', words: 'Acknowledge' } });
  assert.match(html, '<meta name="color-scheme" content="light dark">');
  // The colours are the reader's own. Any style that sets text or background colour must set both.
  for (const [, style = ''] of html.matchAll(/ style="([^"]*)"/g))
    assert.is(/(?:^|;)color:/.test(style), /background:/.test(style), style);
});

test('as HTML: the same content, with all texts escaped', () => {
  assert.is(
    htmlOf(FULL),
    [
      ...['<!DOCTYPE html>', '<html lang="en">', HEAD, '<body>'],
      ...['<p><strong>It is &lt;missing&gt;.</strong></p>', '<p>Nobody knows why.</p>'],
      '<table><tr><td>Tags</td><td>a &amp; b</td></tr>',
      '<tr><td>Last check-in</td><td>one\ntwo</td></tr></table>',
      '<p><strong>Missing (2)</strong></p>',
      '<ul><li>&quot;web&quot;</li>\n<li>o&#39;db</li></ul>',
      '<p><strong>Paused (1)</strong></p>',
      '<ul><li>mail</li></ul>',
      '<p>The job printed:</p>\n<pre>first\n\nlast</pre>',
      '<p>To see more:</p>\n<pre>snitch show a\nsnitch alerts</pre>',
      '<p>You are told because &lt;you&gt; asked.</p>',
      '</body></html>\n',
    ].join('\n'),
  );
  const alone = asText({ ...LEAST, commands: ['snitch alerts'] });
  assert.match(alone, 'To see more:\n  snitch alerts\n');
  const single = htmlOf({ ...LEAST, fields: [{ label: 'Tags', value: 'a' }], commands: ['snitch alerts'] });
  assert.match(single, '<table><tr><td>Tags</td><td>a</td></tr></table>');
  assert.match(single, '<p>To see more:</p>\n<pre>snitch alerts</pre>');
  assert.is(
    htmlOf(LEAST),
    `<!DOCTYPE html>\n<html lang="en">\n${HEAD}\n<body>\n<p><strong>All is well.</strong></p>\n<p>Bye.</p>\n</body></html>\n`,
  );
});

test.run();
