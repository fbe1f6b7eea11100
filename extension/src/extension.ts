/** Wiring only. */

import { commands } from "./common/commands";
import { Session } from "./common/session";
import { StatusBar } from "./common/statusBar";
import { type Context, openChannel, openHost, openStatusItem, register } from "./common/vscodeapi";

let session: Session | undefined;

export async function activate(context: Context): Promise<void> {
  const host = await openHost(context);
  session = new Session(host, openChannel(context), new StatusBar(openStatusItem(context)));
  register(context, commands(session, host));
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
