/** The sandbox of a service. Its drop-in runs in the same one, so perhaps it could not check in. */
import { lastValue, type Setting, valuesOf } from './units.ts';

/** @returns why the program cannot start in this service, or cannot reach a server; null if nothing is in the way */
export function serviceFault(settings: readonly Setting[]): string | null {
  const value = (name: string) => lastValue(settings, 'Service', name) ?? '';
  const isOn = (name: string) => /^(?:yes|true|on|1)$/i.test(value(name));
  for (const name of ['RootDirectory', 'RootImage']) {
    if (value(name) !== '')
      return `its service has its own root directory (${name}=): check in from the job itself`;
  }
  if (isOn('PrivateNetwork'))
    return 'its service has no network (PrivateNetwork=): a check-in cannot be sent';
  if (isOn('MemoryDenyWriteExecute')) {
    return 'its service cannot generate code (MemoryDenyWriteExecute=), which this program needs: use curl in the job';
  }
  const families = valuesOf(settings, 'Service', 'RestrictAddressFamilies').join(' ');
  if (families !== '' && !families.startsWith('~') && !/\bAF_INET\b/.test(families)) {
    return 'its service has no network (RestrictAddressFamilies=): a check-in cannot be sent';
  }
  const denied = valuesOf(settings, 'Service', 'IPAddressDeny').join(' ');
  if (/\bany\b/.test(denied) && valuesOf(settings, 'Service', 'IPAddressAllow').length === 0) {
    return 'its service has no network (IPAddressDeny=any): a check-in cannot be sent';
  }
  return null;
}

/** Whether a service sees the file. Some hide home directories, or have a `/tmp` of their own. */
export function isVisible(settings: readonly Setting[], file: string): boolean {
  const value = (name: string) => (lastValue(settings, 'Service', name) ?? '').toLowerCase();
  const hidesHomes = ['yes', 'true', 'on', '1', 'tmpfs'].includes(value('ProtectHome'));
  if (hidesHomes && /^\/(?:home|root|run\/user)\//.test(file)) return false;
  const ownTmp = ['yes', 'true', 'on', '1', 'disconnected'].includes(value('PrivateTmp'));
  return !(ownTmp && /^\/(?:var\/)?tmp\//.test(file));
}
