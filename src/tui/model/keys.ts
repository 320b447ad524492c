/** The keys of each screen, in one table for what they do, for the footer and for the help. */

export interface Binding {
  keys: readonly string[];
  /** How the footer and the help show the keys. */
  show: string;
  action: string;
  /** A word for the footer. Without it, the key is only in the help. */
  word?: string;
  help: string;
  /**
   * The footer shows it only if the selected snitch is in this state, or if there are several servers. Those for an
   * alarm come first.
   */
  when?: 'alarm' | 'paused' | 'unpaused' | 'several';
  /** Changes something on the server, so it is off when the dashboard is read-only. */
  changes?: true;
}

const MOVES = [
  { keys: ['down', 'j'], show: 'j ↓', action: 'down', help: 'one row down' },
  { keys: ['up', 'k'], show: 'k ↑', action: 'up', help: 'one row up' },
  { keys: ['pagedown', 'ctrl+f', 'ctrl+d'], show: 'PgDn', action: 'page-down', help: 'one page down' },
  { keys: ['pageup', 'ctrl+b', 'ctrl+u'], show: 'PgUp', action: 'page-up', help: 'one page up' },
  { keys: ['g', 'home'], show: 'g', action: 'first', help: 'to the first row' },
  { keys: ['G', 'end'], show: 'G', action: 'last', help: 'to the last row' },
] as const satisfies readonly Binding[];

const ON_SNITCH = [
  {
    keys: ['p'],
    show: 'p',
    action: 'pause',
    word: 'pause',
    help: 'pause; asks until when',
    when: 'unpaused',
    changes: true,
  },
  {
    keys: ['u'],
    show: 'u',
    action: 'unpause',
    word: 'unpause',
    help: 'unpause',
    when: 'paused',
    changes: true,
  },
  {
    keys: ['a'],
    show: 'a',
    action: 'acknowledge',
    word: 'acknowledge',
    when: 'alarm',
    help: 'acknowledge; asks for a note',
    changes: true,
  },
  {
    keys: ['A'],
    show: 'A',
    action: 'unacknowledge',
    help: 'take the acknowledgement back',
    changes: true,
  },
  {
    keys: ['z'],
    show: 'z',
    action: 'silence',
    word: 'silence',
    help: 'silence; asks until when',
    changes: true,
  },
  { keys: ['Z'], show: 'Z', action: 'end-silence', help: 'end its own silence', changes: true },
  { keys: ['e'], show: 'e', action: 'edit', word: 'edit', help: 'edit in a form', changes: true },
  { keys: ['d'], show: 'd', action: 'delete', word: 'delete', help: 'delete; asks first', changes: true },
  { keys: ['#'], show: '#', action: 'tag', help: 'add tags; -tag removes one', changes: true },
  { keys: ['y'], show: 'y', action: 'copy', word: 'copy URL', help: 'copy the check-in URL' },
  { keys: ['Y'], show: 'Y', action: 'copy-more', help: 'copy what to paste; asks where' },
] as const satisfies readonly Binding[];

const EVERYWHERE = [
  {
    keys: ['@'],
    show: '@',
    action: 'servers',
    word: 'servers',
    when: 'several',
    help: 'other servers and their status',
  },
  { keys: ['r', 'ctrl+r'], show: 'r', action: 'refresh', help: 'read everything again' },
  { keys: ['?'], show: '?', action: 'help', word: 'help', help: 'this help' },
  { keys: ['q', 'ctrl+c'], show: 'q', action: 'quit', word: 'quit', help: 'quit' },
] as const satisfies readonly Binding[];

export const KEYS = {
  table: [
    ...MOVES,
    { keys: ['enter', 'right', 'l'], show: '⏎', action: 'open', word: 'open', help: 'open the snitch' },
    {
      keys: ['/'],
      show: '/',
      action: 'filter',
      word: 'filter',
      help: 'filter by name, tag or notes; tag:x, status:x, ! for not',
    },
    { keys: ['s'], show: 's', action: 'sort', word: 'sort', help: 'sort by the next key' },
    { keys: ['S'], show: 'S', action: 'reverse', help: 'reverse the order' },
    {
      keys: ['space'],
      show: 'space',
      action: 'mark',
      word: 'mark',
      help: 'mark; p, u, a, z and # then act on all marked',
    },
    { keys: ['*'], show: '*', action: 'mark-all', help: 'mark all shown, or none' },
    ...ON_SNITCH,
    { keys: ['n'], show: 'n', action: 'new', word: 'new', help: 'create a snitch', changes: true },
    { keys: ['t'], show: 't', action: 'alerts', word: 'alerts', help: 'alerts and deliveries' },
    { keys: ['escape'], show: 'esc', action: 'back', help: 'clear marks, then the filter' },
    ...EVERYWHERE,
  ],
  detail: [
    { keys: ['escape', 'left', 'h'], show: 'esc', action: 'back', word: 'back', help: 'back to the table' },
    ...MOVES,
    ...ON_SNITCH,
    ...EVERYWHERE,
  ],
  alerts: [
    { keys: ['escape', 'h', 't'], show: 'esc', action: 'back', word: 'back', help: 'back to the table' },
    {
      keys: ['tab', 'left', 'right'],
      show: 'tab',
      action: 'tab',
      word: 'alerts/deliveries',
      help: 'the other list',
    },
    ...MOVES,
    {
      keys: ['enter'],
      show: '⏎',
      action: 'open-alert',
      word: 'open/retry',
      help: 'open the snitch of an alert; send a dead delivery again',
    },
    ...EVERYWHERE,
  ],
} as const satisfies Record<string, readonly Binding[]>;

export type Action = (typeof KEYS)[keyof typeof KEYS][number]['action'];

/** The keys of a screen. A read-only dashboard does not have those that change anything. */
export function bindingsOf(screen: keyof typeof KEYS, readonly: boolean): readonly Binding[] {
  const all: readonly Binding[] = KEYS[screen];
  return readonly ? all.filter((binding) => !binding.changes) : all;
}

export function bindingFor(
  screen: keyof typeof KEYS,
  key: string,
): (Binding & { action: Action }) | undefined {
  const all: readonly (Binding & { action: Action })[] = KEYS[screen];
  return all.find(({ keys }) => keys.includes(key));
}
