// The exports of `oriel/testing`: tests of views, with any test framework.

export { type ContractOptions, type ContractTest, type ContractUser, viewContract } from './contract.ts'
export {
  type Installation,
  type InstallationOptions,
  startInstallation,
} from './installation.ts'
export type { TestReply, TestRequest, TestUser, WatchedEvent, WatchHistory } from './user.ts'
