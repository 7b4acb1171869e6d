"""How people say what a predicate says. Ours.

PREDICATES lists what domains are put together from: names that a predicate may have, what its arguments are, and ways to say it. In a way
to say it {1} {2} {3} are the arguments; "@" stands for "is", "should be", "must not be" ..., "@hold" for "holds", "should hold" and so on. DO
are orders to bring it about, UNDO to end it, AVOID never to let it come about.
"""

# what an argument is -> names that its type may have
KINDS = {
    "thing": "ball package parcel item box crate sample book letter tool block disc dish bottle cargo chart card toy".split(),
    "place": "room location place city floor cell position station site area zone spot airport office shop".split(),
    "agent": "robot agent person worker nurse driver astronaut cook player crew rover drone".split(),
    "door": "door gate box drawer cabinet window valve container locker hatch".split(),
    "device": "lamp light machine device oven pump switch sensor camera printer instrument radio".split(),
    "vehicle": "truck car van train boat ferry plane shuttle bus lift ship".split(),
    "person": "passenger patient guest customer child visitor student friend".split(),
    "food": "bread apple potato pizza cake meal sandwich tomato salad soup".split(),
    "holder": "shelf table bin tray stack shot cup bag container rack basket pot".split(),
    "matter": "water juice oil cocktail paint tea fuel soap mode colour image".split(),
}

# names; kinds of the arguments; ways to say it; DO; UNDO; AVOID
PREDICATES = [
    (["at", "located", "obj-at", "at-location", "is_at", "in-room", "at_place"], ["thing", "place"],
     ["{1} @ at {2}", "{1} @ in {2}", "{1} @ at {2}"],
     ["bring {1} to {2}", "move {1} to {2}", "take {1} to {2}", "get {1} to {2}", "deliver {1} to {2}", "carry {1} to {2}", "{1} belongs in {2}",
      "transport {1} to {2}", "{1} goes to {2}"],
     ["take {1} away from {2}", "remove {1} from {2}", "get {1} out of {2}"], ["keep {1} out of {2}"]),
    (["at", "robot-at", "agent-at", "is-in", "at_loc", "located"], ["agent", "place"],
     ["{1} @ at {2}", "{1} @ in {2}"], ["send {1} to {2}", "move {1} to {2}", "{1} goes to {2}", "drive {1} to {2}", "get {1} to {2}"],
     ["{1} leaves {2}", "get {1} out of {2}"], ["{1} never enters {2}", "keep {1} out of {2}", "{1} stays away from {2}"]),
    (["robot-at", "at-robby", "here", "player-at", "at-agent", "im-at", "is-at"], ["place"],
     ["the robot @ at {1}", "you @ in {1}", "you @ at {1}", "the robot @ in {1}"],
     ["go to {1}", "return to {1}", "end up in {1}", "come to {1}", "be at {1} in the end", "stop at {1}", "visit {1}"],
     ["leave {1}", "get out of {1}"], ["never enter {1}", "stay out of {1}", "do not go into {1} at any time", "avoid {1}", "keep out of {1}"]),
    (["in", "inside", "contained-in", "is_in", "stored-in"], ["thing", "holder"], ["{1} @ in {2}", "{1} @ inside {2}"],
     ["put {1} in {2}", "put {1} into {2}", "place {1} inside {2}", "store {1} in {2}", "pack {1} into {2}", "{1} belongs in {2}", "{1} goes into {2}"],
     ["take {1} out of {2}", "remove {1} from {2}"], ["never put {1} into {2}", "keep {1} out of {2}"]),
    (["on", "on-top", "on_top_of", "stacked-on", "ontop", "supported"], ["thing", "thing"], ["{1} @ on {2}", "{1} @ on top of {2}"],
     ["put {1} on {2}", "place {1} on {2}", "stack {1} on {2}", "put {1} on top of {2}", "set {1} down on {2}", "{1} goes on {2}"],
     ["take {1} off {2}", "remove {1} from {2}"], ["never put {1} on {2}"]),
    (["on-table", "ontable", "on_floor", "on-ground"], ["thing"], ["{1} @ on the table", "{1} @ {p}"],
     ["put {1} on the table", "put {1} down", "set {1} on the table"], ["pick {1} up from the table"], ["never put {1} on the table"]),
    (["clear", "free", "uncovered", "empty-top"], ["thing"], ["{1} @ {p}", "nothing @ on {1}"], ["clear {1}", "free {1}", "take everything off {1}"],
     [], []),
    (["contains", "has", "holds", "filled-with"], ["holder", "matter"], ["{1} @contain {2}", "{1} @hold {2}", "{2} @ in {1}"],
     ["fill {1} with {2}", "pour {2} into {1}", "put {2} into {1}"], ["empty {2} out of {1}"], ["never pour {2} into {1}"]),
    (["holding", "held", "carrying", "in-hand", "grasped"], ["thing"], ["{1} @ held", "you @hold {1}", "{1} @ in your hand"],
     ["pick up {1}", "hold {1}", "grab {1}", "take {1} into your hand", "hold on to {1}"], ["put {1} down", "drop {1}", "let go of {1}"],
     ["never pick up {1}", "never touch {1}"]),
    (["holding", "carry", "has", "carries", "holds"], ["agent", "thing"], ["{1} @hold {2}", "{1} @carry {2}", "{2} @ with {1}"],
     ["give {2} to {1}", "hand {2} to {1}", "let {1} have {2}"], ["take {2} from {1}"], ["never give {2} to {1}"]),
    (["open", "opened", "is-open"], ["door"], ["{1} @ open"], ["open {1}"], ["close {1}", "shut {1}", "{1} has to be closed"], ["never open {1}"]),
    (["closed", "shut"], ["door"], ["{1} @ closed", "{1} @ shut"], ["close {1}", "shut {1}"], ["open {1}"], ["never close {1}"]),
    (["locked", "is-locked", "door-locked"], ["door"], ["{1} @ locked"], ["lock {1}", "lock up {1}"], ["unlock {1}"], ["never lock {1}"]),
    (["on", "switched-on", "powered", "power_on", "lit", "is-on", "active"], ["device"], ["{1} @ on", "{1} @ switched on", "{1} @ {p}"],
     ["turn on {1}", "switch on {1}", "turn {1} on", "switch {1} on"], ["turn off {1}", "switch {1} off", "turn {1} off", "switch off {1}"],
     ["never turn on {1}", "leave {1} off all the time"]),
    (["clean", "washed", "cleaned", "is-clean"], ["thing"], ["{1} @ clean", "{1} @ washed", "{1} @ {p}"],
     ["clean {1}", "wash {1}", "make {1} clean"], [], []),
    (["dirty", "stained"], ["thing"], ["{1} @ dirty", "{1} @ {p}"], ["make {1} dirty"], ["clean {1}", "wash {1}"], ["never make {1} dirty"]),
    (["cut", "sliced", "chopped"], ["food"], ["{1} @ {p}"], ["cut {1}", "slice {1}", "chop {1}"], [], ["never cut {1}"]),
    (["cooked", "hot", "baked", "heated"], ["food"], ["{1} @ {p}"], ["cook {1}", "heat {1}", "bake {1}"], [], ["never cook {1}"]),
    (["served", "attended", "helped"], ["person"], ["{1} @ served", "{1} @ {p}"], ["serve {1}", "take care of {1}", "{1} gets served"], [], []),
    (["boarded", "on-board", "aboard", "in-vehicle"], ["person", "vehicle"], ["{1} @ on board of {2}", "{1} @ in {2}", "{1} @ {p} {2}"],
     ["{1} boards {2}", "put {1} into {2}", "let {1} get into {2}"], ["{1} leaves {2}"], []),
    (["in", "loaded", "loaded-in", "in-truck"], ["thing", "vehicle"], ["{1} @ in {2}", "{1} @ loaded into {2}", "{1} @ {p} {2}"],
     ["load {1} into {2}", "put {1} in {2}"], ["unload {1} from {2}"], ["never load {1} into {2}"]),
    (["visited", "explored", "seen", "inspected"], ["place"], ["{1} @ visited", "{1} @ {p}"],
     ["visit {1}", "go and see {1}", "explore {1}", "inspect {1}"], [], ["never visit {1}"]),
    (["painted", "has-colour", "coloured"], ["thing", "matter"], ["{1} @ painted {2}", "{1} @ {p} {2}"], ["paint {1} {2}", "colour {1} {2}"],
     [], ["never paint {1} {2}"]),
    (["delivered", "sent", "shipped", "received"], ["thing"], ["{1} @ delivered", "{1} @ {p}"], ["deliver {1}", "send {1}"], [], []),
    (["repaired", "fixed", "working", "tested", "checked", "calibrated", "charged"], ["device"], ["{1} @ {p}", "{1} @ {p}"],
     ["get {1} {p}", "have {1} {p}"], [], []),
    (["connected", "attached", "linked", "plugged-in", "fastened"], ["thing", "device"], ["{1} @ connected to {2}", "{1} @ {p} {2}", "{1} @ {p} to {2}"],
     ["connect {1} to {2}", "attach {1} to {2}", "plug {1} into {2}"], ["take {1} off {2}", "disconnect {1} from {2}"], []),
    (["have_image", "photographed", "image-taken", "has-picture", "observed"], ["place", "matter"], ["{1} @ {p} {2}", "there @ a picture of {1} in {2}"],
     ["take an image of {1} in {2}", "take a picture of {1} with {2}", "get a {2} image of {1}"], [], []),
    (["filled", "full", "loaded"], ["holder"], ["{1} @ full", "{1} @ {p}"], ["fill {1}", "fill {1} up"], ["empty {1}"], []),
    (["empty", "vacant"], ["holder"], ["{1} @ empty", "{1} @ {p}"], ["empty {1}", "take everything out of {1}"], ["fill {1}"], []),
    (["hand-empty", "handempty", "arm-empty", "gripper-free", "free-hand"], [], ["your hand @ empty", "the gripper @ free", "the arm @ empty"],
     ["keep your hand free", "put down what you hold"], [], []),
    (["alarm-on", "finished", "done", "ready", "raining", "lights-on"], [], ["@@ {p}"], ["{p}"], [], []),
    (["parked", "docked", "stationed"], ["vehicle", "place"], ["{1} @ {p} at {2}", "{1} @ {p} {2}", "{1} @ at {2}"],
     ["park {1} at {2}", "drive {1} to {2}", "bring {1} to {2}"], ["drive {1} away from {2}"], []),
    (["made", "built", "assembled", "produced"], ["thing"], ["{1} @ {p}"], ["make {1}", "build {1}", "produce {1}"], [], []),
    (["soaked", "wet", "watered", "frozen", "packed", "wrapped", "sealed", "labelled", "planted", "reserved", "signed", "broken", "hidden", "marked"],
     ["thing"], ["{1} @ {p}"], ["get {1} {p}", "make {1} {p}"], [], ["never get {1} {p}"]),
    (["transferred", "assigned", "matched", "next-to", "near", "under", "behind", "facing", "tied-to"], ["thing", "thing"],
     ["{1} @ {p} {2}"], ["get {1} {p} {2}", "put {1} {p} {2}"], [], []),
    (["transferred", "moved", "lifted", "crossed", "between"], ["agent", "thing", "place"], ["{1} @ {p} {2} {3}", "{1} @ {p} {2} at {3}"], [], [], []),
]

STATIC = ["connected", "road", "link", "adjacent", "path", "next", "above", "can-reach", "fits", "belongs", "neighbour", "smaller", "destin", "origin",
          "supports", "handle-of", "edge", "visible", "compatible", "allowed"]

ALL = ["all {s}", "every {}", "each {}", "all the {s}", "all of the {s}", "each of the {s}", "every single {}"]
NONE = ["no {}", "none of the {s}", "not a single {}"]
SOME = ["some {}", "any {}", "one of the {s}", "at least one {}", "a {}", "any of the {s}"]
AT_LEAST = ["at least {n} {s}", "at least {n} of the {s}", "{n} or more {s}", "no fewer than {n} {s}", "{n} {s} or more", "not less than {n} {s}"]
NUMBERS = {2: "two", 3: "three", 4: "four"}

BEFORE_STATEMENT = ["make sure that ", "see to it that ", "ensure that ", "in the end ", "at the end ", "finally, ", "it is important that ", "I want that ", "",
                    "", "", "", "when you are done, ", "please make sure ", "check that ", "the goal is that ", "be sure that "]
BEFORE_ORDER = ["", "", "", "", "please ", "you should ", "I want you to ", "your task is to ", "could you ", "now ", "you have to "]
OPENINGS = ["Here is what I want. ", "Please do the following. ", "Your goal is to do this: ", "There is some work to do. ", "Your goal is to move some things. ",
            "Hello! ", "Listen. ", "The goal is as follows. ", "Your goal is to get everything where it belongs. ", "Today: ", "Task: ", "We need help. "]
JOINTS = [" and ", " and ", " and ", ", and ", ", ", ". ", "; ", ", then ", " and also ", ". Also, ", " as well as that "]
