/** Settings of each kind of channel, at a server of the test. */
import type { ChannelKind, ChannelSettings } from '../../src/core/channel.ts';

/** @param base of the server, without a slash at its end */
export function settingsAt(base: string): Record<ChannelKind, ChannelSettings> {
  return {
    ntfy: { server: base, topic: 'ops', token: 'tk_s3cr3t' },
    gotify: { server: base, token: 's3cr3t-token' },
    pushover: { server: base, token: 's3cr3t-token', user: 's3cr3t-user' },
    slack: { url: `${base}/services/T0/B0/s3cr3ts3cr3t` },
    mattermost: { url: `${base}/hooks/s3cr3ts3cr3t` },
    discord: { url: `${base}/api/webhooks/1/s3cr3ts3cr3t` },
    teams: { url: `${base}/workflows/s3cr3ts3cr3t/invoke?sig=s3cr3t-sig` },
    google_chat: { url: `${base}/v1/spaces/A/messages?key=s3cr3t-key&token=s3cr3t-token` },
    rocketchat: { url: `${base}/hooks/1/s3cr3ts3cr3t` },
    zulip: { site: base, email: 'bot@example.com', key: 's3cr3t-key', channel: 'ops' },
    telegram: { server: base, token: '123456:s3cr3ts3cr3t', chat: '-1001' },
    matrix: { server: base, token: 's3cr3t-token', room: '!room:example.com' },
    pagerduty: { server: base, routing_key: 's3cr3t-routing-key' },
    opsgenie: { server: base, key: 's3cr3t-key' },
    splunk_oncall: { url: `${base}/alert/s3cr3ts3cr3t/ops` },
    alertmanager: { url: base },
    apprise: { url: `${base}/notify/s3cr3t-key` },
    command: { command: 'page' },
  };
}

export const SETTINGS = settingsAt('https://service.example.com');
