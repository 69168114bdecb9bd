import type { Command } from 'commander'
import { clientCaOption } from './authentication.ts'
import { addEtcdAccessFlags, compactionOption, type EtcdAccessPrefix, needEtcd } from './etcd.ts'
import { addIgnoredFlags, ignoredByCacheServer } from './ignored.ts'
import {
  addEtcdServers,
  addKcpNames,
  addRefusedFlags,
  type KcpFlags,
  type KcpNames,
  refusedByStores,
} from './kcp.ts'
import { addCertificateFlags, addServingFlags, type CertificateFlags, type ServingFlags } from './serving.ts'
import { commonOption } from './values.ts'

/** The flags of `oriel cache-server`, checked. */
export interface CacheServerFlags
  extends ServingFlags,
    CertificateFlags,
    EtcdAccessPrefix,
    KcpNames,
    Pick<KcpFlags, 'etcdServers'> {
  readonly dataDirectory: string
  readonly store?: string
  readonly clientCaFile: string
  /** Milliseconds. */
  readonly etcdCompactionInterval: number
}

/** Adds the flags to a command, with all of kcp's `cache-server` (kcp `pkg/cache/server/options`). */
export function addCacheServerFlags(command: Command): Command {
  command
    .description('Serve copies of objects that shards of kcp share.')
    .addOption(clientCaOption().makeOptionMandatory())
    .addOption(
      commonOption('--data-directory <path>', 'directory of the certificates and of the objects').default(
        '.oriel-cache',
      ),
    )
    .addOption(
      commonOption(
        '--store <location>',
        'where objects are stored: a directory, "memory:", or etcd://host:2379,... (default: "store" in the data directory)',
      ),
    )
  addEtcdAccessFlags(addCertificateFlags(addServingFlags(command, 6443)), '/oriel-cache').addOption(
    compactionOption(),
  )
  needEtcd(addEtcdServers(addKcpNames(command)), '--store', '--etcd-servers')
  return addIgnoredFlags(ignoredByCacheServer, addRefusedFlags(refusedByStores, command))
}
