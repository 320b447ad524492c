/** The host whose jobs are discovered. Its files are read below a directory that stands for its root. */

/** Something on the host that no snitch is proposed for. */
export interface PassedOver {
  /** The file or unit that it is in, as a person on the host would name it. */
  where: string;
  what: string;
  reason: string;
  /** Whether there is nothing to watch, or nothing that anybody could wait for. */
  excused?: boolean;
}

/** A path as it would be on the host itself. */
export function shown(root: string, path: string): string {
  return root === '/' ? path : path.slice(root.replace(/\/$/, '').length);
}

/** Advice if rights are missing; otherwise empty. */
export function hintOf(code: string | undefined): string {
  return code === 'EACCES' || code === 'EPERM' ? ': run this as root' : '';
}
