/** How the page looks, and what a browser is told about it. It loads nothing and runs nothing. */
import { createHash } from 'node:crypto';

const STYLE = `
:root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--text:#16181d;--dim:#555b66;--line:#dfe2e8;--well:#1e7f4f;--bad:#c0281d;--error:#9a4d00;--calm:#4a5d8f;--idle:#5f6673;--none:#8d94a1;--good-back:#e6f4ec;--good-text:#0f5b36;--bad-back:#fdeceb;--bad-text:#931c13;--calm-back:#e9eef9;--calm-text:#2e4273;--link:#1a56b0}
@media (prefers-color-scheme:dark){:root{--back:#111318;--card:#1a1d24;--text:#eceef2;--dim:#a7aebb;--line:#303541;--well:#4cc38a;--bad:#ff7b70;--error:#f5a75a;--calm:#93aef0;--idle:#8d95a5;--none:#6f7787;--good-back:#12301f;--good-text:#8ee0b4;--bad-back:#3a1715;--bad-text:#ffb3ac;--calm-back:#1b2540;--calm-text:#bccdf8;--link:#8ab8ff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,header,footer{margin:0 auto;max-width:46rem;padding:0 1rem}
header{padding-top:2rem}
h1,h2,h3,p,ul{margin:0;padding:0}
h1{font-size:1.6rem;line-height:1.25;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{margin:2rem 0 .6rem;font-size:1.05rem;overflow-wrap:anywhere}
ul{list-style:none}
a{color:var(--link)}
a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:.2rem}
.sum{display:flex;gap:.75rem;align-items:center;margin-top:1.25rem;padding:1rem 1.1rem;border-radius:.75rem;font-size:1.15rem;font-weight:650;line-height:1.35}
.sum svg{flex:none;width:1.6rem;height:1.6rem}
.sum.good{background:var(--good-back);color:var(--good-text)}
.sum.bad{background:var(--bad-back);color:var(--bad-text)}
.sum.calm{background:var(--calm-back);color:var(--calm-text)}
.dim{color:var(--dim);font-size:.875rem}
header .dim{margin-top:.6rem}
.say{margin-top:1.25rem;padding:1rem 1.1rem;border:1px solid var(--line);border-left:.3rem solid var(--calm);border-radius:.5rem;background:var(--card)}
.say h2{margin:0 0 .25rem}
.say .text{white-space:pre-wrap;overflow-wrap:anywhere}
.say .dim{margin-top:.5rem}
.list{border:1px solid var(--line);border-radius:.75rem;background:var(--card)}
.list li{padding:.85rem 1.1rem}
.list li+li{border-top:1px solid var(--line)}
.row{display:flex;flex-wrap:wrap;gap:.1rem 1rem;align-items:baseline;justify-content:space-between}
h1,h2,.name,.text{overflow:clip}
.name{font-size:1rem;font-weight:600;min-width:0;overflow-wrap:anywhere}
.state{font-size:.9rem;color:var(--dim)}
.state b{font-weight:600}
.state svg{width:.8rem;height:.8rem;margin-right:.35rem;vertical-align:-.06rem}
.state time{white-space:nowrap}
.is-well :is(b,svg){color:var(--well)}.is-missing :is(b,svg){color:var(--bad)}.is-error :is(b,svg){color:var(--error)}.is-planned :is(b,svg){color:var(--calm)}:is(.is-paused,.is-pending) :is(b,svg){color:var(--idle)}
.strip{display:block;width:100%;height:1.75rem;margin-top:.5rem}
.ends{display:flex;justify-content:space-between;gap:1rem;margin-top:.15rem;color:var(--dim);font-size:.78rem;white-space:nowrap}
.strip path,.mark path{fill:none;stroke-dasharray:8 2}
.strip .w,.mark .w{stroke:var(--well);stroke-width:22}.strip .m,.mark .m{stroke:var(--bad);stroke-width:28}.strip .e,.mark .e{stroke:var(--error);stroke-width:12}.strip .p,.mark .p{stroke:var(--idle);stroke-width:8}.strip .l,.mark .l{stroke:var(--calm);stroke-width:5}.strip .a,.mark .a{stroke:var(--idle);stroke-width:14;stroke-dasharray:2 8;stroke-dashoffset:-3}.strip .n,.mark .n{stroke:var(--none);stroke-width:3;stroke-dasharray:4 6;stroke-dashoffset:-2}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin-top:1.25rem;color:var(--dim);font-size:.82rem}
.key svg{width:.5rem;height:1.1rem;margin-right:.4rem;vertical-align:-.25rem}
footer{margin-top:2rem;padding-top:1rem;padding-bottom:2.5rem;color:var(--dim);font-size:.85rem}
footer p+p{margin-top:.35rem}
form{margin-top:1.25rem;padding:1.1rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card)}
label{display:block;font-weight:600}
input{display:block;width:100%;margin:.35rem 0 1rem;padding:.65rem .75rem;border:1px solid var(--idle);border-radius:.45rem;background:var(--back);color:inherit;font:inherit}
button{width:100%;padding:.75rem;border:0;border-radius:.45rem;background:#1a56b0;color:#fff;font:inherit;font-weight:600;cursor:pointer}
.wrong{margin-top:1rem;color:var(--bad);font-weight:600}
@media (max-width:30rem){.ends{gap:.5rem;font-size:.72rem}header{padding-top:1.25rem}.list li{padding:.8rem .85rem}.sum{font-size:1.05rem}.state time{white-space:normal}}
@media (forced-colors:active){.strip path,.mark path{stroke:CanvasText!important}}
@media print{body{background:#fff}.say,.list{break-inside:avoid}}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

export const HTML_TYPE = 'text/html; charset=utf-8';

/** For every page of this kind. */
export const PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** @param head, body HTML */
export function layOut({ title, head = '', body }: { title: string; head?: string; body: string }): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${head}<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
}
