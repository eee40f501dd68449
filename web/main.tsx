// SPDX-License-Identifier: MIT
import { render } from "preact";

render(<p class="boot">Retake</p>, document.getElementById("app")!);
