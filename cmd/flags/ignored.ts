import { type Command, Option } from 'commander'

/** Flags of kcp without effect, and the reason that is logged. */
const ignored: Readonly<Record<string, string>> = {
  'audit-log-batch-buffer-size': 'audit events are written one at a time',
  'audit-log-batch-max-size': 'audit events are written one at a time',
  'audit-log-batch-max-wait': 'audit events are written one at a time',
  'audit-log-batch-throttle-burst': 'audit events are written one at a time',
  'audit-log-batch-throttle-enable': 'audit events are written one at a time',
  'audit-log-batch-throttle-qps': 'audit events are written one at a time',
  'audit-log-compress': 'audit logs are not compressed',
  'audit-log-format': 'audit events are JSON',
  'audit-log-mode': 'audit events are written one at a time',
  'audit-log-truncate-enabled': 'audit events are not truncated',
  'audit-log-truncate-max-batch-size': 'audit events are not truncated',
  'audit-log-truncate-max-event-size': 'audit events are not truncated',
  'audit-log-version': 'audit events are audit.k8s.io/v1',
  'audit-webhook-batch-buffer-size': 'the size of batches is fixed',
  'audit-webhook-batch-max-size': 'the size of batches is fixed',
  'audit-webhook-batch-max-wait': 'the delay of batches is fixed',
  'audit-webhook-batch-throttle-burst': 'batches are not throttled',
  'audit-webhook-batch-throttle-enable': 'batches are not throttled',
  'audit-webhook-batch-throttle-qps': 'batches are not throttled',
  'audit-webhook-initial-backoff': 'the retry interval is fixed',
  'audit-webhook-mode': 'audit events are sent in batches',
  'audit-webhook-truncate-enabled': 'audit events are not truncated',
  'audit-webhook-truncate-max-batch-size': 'audit events are not truncated',
  'audit-webhook-truncate-max-event-size': 'audit events are not truncated',
  'audit-webhook-version': 'audit events are audit.k8s.io/v1',
  'authentication-skip-lookup': 'authentication is never configured from a surrounding cluster',
  'authentication-token-webhook-cache-ttl': 'token reviews are cached for 10s',
  'authentication-tolerate-lookup-failure': 'authentication is never configured from a surrounding cluster',
  'disable-http2-serving': 'HTTP/2 is always served',
  'feature-gates': 'there are no feature gates',
  'http2-max-streams-per-connection': 'the number of streams is not limited',
  'log-flush-frequency': 'log lines are written unbuffered',
  'log-json-info-buffer-size': 'log lines are written unbuffered',
  'log-json-split-stream': 'log lines go to standard error',
  'log-text-info-buffer-size': 'log lines are written unbuffered',
  'log-text-split-stream': 'log lines go to standard error',
  'logging-format': 'log lines are JSON',
  'permit-address-sharing': 'the address is not shared',
  'permit-port-sharing': 'the port is not shared',
  'profiler-address': 'use node --inspect',
  'shard-external-url': 'it is deprecated in kcp and has no effect',
  'tls-cipher-suites': 'the cipher suites of Node.js are used',
  'tls-min-version': 'the minimum version is TLS 1.2',
  'tls-sni-cert-key': 'SNI certificates are not supported',
  vmodule: 'log levels per module are not supported',
}

/** Adds the flags to a command, hidden from `--help`, with an optional value. */
export function addIgnoredFlags(command: Command): Command {
  for (const name of Object.keys(ignored))
    command.addOption(new Option(`--${name} [value]`, 'ignored').hideHelp())
  return command
}

const camelCase = (name: string): string =>
  name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** A log message for each ignored flag that was given. */
export const warningsAbout = (flags: object): readonly string[] =>
  Object.entries(ignored)
    .filter(([name]) => camelCase(name) in flags)
    .map(([name, why]) => `--${name} is ignored: ${why}`)
