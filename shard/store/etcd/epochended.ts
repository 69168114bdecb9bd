import { StoreError } from '../store.ts'

/** Another server has found that etcd was restored, or etcd was replaced. */
export class EpochEnded extends StoreError {
  constructor() {
    super(
      'etcd was restored or replaced while the server was running. Start the server again: clients will list again.',
    )
  }
}
