/** The only file that touches the editor's API, so that all the rest runs in plain tests. */

import * as vscode from "vscode";

const REVIEW_SCHEME = "tabferry-review";

export type Severity = "info" | "warning" | "error";

export interface Channel {
  append(text: string): void;
  show(): void;
}

export interface StatusItem {
  show(text: string, tooltip: string, command: string, needsUser: boolean): void;
}

export interface Host {
  readonly storage: string;
  readonly version: string;
  setting<T>(name: string, fallback: T): T;
  focused(): boolean;
  pickFolder(): Promise<string | undefined>;
  pick(placeholder: string, labels: readonly string[]): Promise<number | undefined>;
  input(title: string, placeholder: string): Promise<string | undefined>;
  notify(severity: Severity, message: string, ...buttons: string[]): Promise<string | undefined>;
  showDiff(id: string, path: string, before: string, after: string, title: string): Promise<void>;
  showPatch(id: string, path: string, patch: string): Promise<void>;
  closeReview(id: string): Promise<void>;
}

/** The real editor; everything it creates ends with `context`. */
export async function openHost(context: vscode.ExtensionContext): Promise<Host> {
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  const documents = new Map<string, string>();
  const provideTextDocumentContent = (uri: vscode.Uri): string => documents.get(uri.toString()) ?? "";
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(REVIEW_SCHEME, { provideTextDocumentContent }),
  );
  const document = (id: string, side: string, path: string, text: string): vscode.Uri => {
    const uri = vscode.Uri.from({ scheme: REVIEW_SCHEME, path: `/${id}/${side}/${path}` });
    documents.set(uri.toString(), text);
    return uri;
  };
  return {
    storage: context.globalStorageUri.fsPath,
    version: String((context.extension.packageJSON as { version: unknown }).version),
    setting: (name, fallback) => vscode.workspace.getConfiguration("tabferry").get(name, fallback),
    focused: () => vscode.window.state.focused,
    pickFolder,
    pick: async (placeHolder, labels) => {
      const choice = await vscode.window.showQuickPick(labels, { placeHolder });
      return choice === undefined ? undefined : labels.indexOf(choice);
    },
    input: async (title, placeHolder) =>
      vscode.window.showInputBox({ title, placeHolder, ignoreFocusOut: true }),
    notify: async (severity, message, ...buttons) => notify[severity](message, ...buttons),
    showDiff: async (id, path, before, after, title) => {
      const [left, right] = [document(id, "before", path, before), document(id, "after", path, after)];
      await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true, preserveFocus: true });
    },
    showPatch: async (id, path, patch) => {
      const uri = document(id, "patch", `${path}.diff`, patch);
      await vscode.window.showTextDocument(uri, { preview: true, preserveFocus: true });
    },
    closeReview: async (id) => {
      await vscode.window.tabGroups.close(reviewTabs(id));
      for (const uri of documents.keys()) {
        if (belongs(vscode.Uri.parse(uri), id)) documents.delete(uri);
      }
    },
  };
}

export function openChannel(context: vscode.ExtensionContext): Channel {
  const channel = vscode.window.createOutputChannel("Tabferry");
  context.subscriptions.push(channel);
  return {
    append: (text) => {
      channel.append(text);
    },
    show: () => {
      channel.show(true);
    },
  };
}

export function openStatusItem(context: vscode.ExtensionContext): StatusItem {
  const item = vscode.window.createStatusBarItem("tabferry.status", vscode.StatusBarAlignment.Left);
  item.name = "Tabferry";
  context.subscriptions.push(item);
  const warning = new vscode.ThemeColor("statusBarItem.warningBackground");
  return {
    show: (text, tooltip, command, needsUser) => {
      Object.assign(item, { text, tooltip, command, backgroundColor: needsUser ? warning : undefined });
      item.show();
    },
  };
}

export function register(
  context: vscode.ExtensionContext,
  commands: Readonly<Record<string, () => unknown>>,
): void {
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`tabferry.${name}`, run));
  }
}

export type Context = vscode.ExtensionContext;

const notify = {
  info: (text: string, ...buttons: string[]) => vscode.window.showInformationMessage(text, ...buttons),
  warning: (text: string, ...buttons: string[]) => vscode.window.showWarningMessage(text, ...buttons),
  error: (text: string, ...buttons: string[]) => vscode.window.showErrorMessage(text, ...buttons),
};

async function pickFolder(): Promise<string | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0];
  return folder?.uri.fsPath;
}

function reviewTabs(id: string): vscode.Tab[] {
  const shows = ({ input }: vscode.Tab): boolean =>
    (input instanceof vscode.TabInputTextDiff && belongs(input.modified, id)) ||
    (input instanceof vscode.TabInputText && belongs(input.uri, id));
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(shows));
}

function belongs(uri: vscode.Uri, id: string): boolean {
  return uri.scheme === REVIEW_SCHEME && uri.path.startsWith(`/${id}/`);
}
