//! Requests that ask for too much are refused, and everybody else is served.

mod common;

use common::Folder;
use common::osc::{bundle, osc};
use common::playing::Playing;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A client that sends lines and reads their replies.
struct Client {
    stream: UnixStream,
    replies: std::io::Lines<BufReader<UnixStream>>,
}

impl Client {
    fn new(here: &Folder) -> Self {
        let stream = UnixStream::connect(here.path("s")).unwrap();
        let replies = BufReader::new(stream.try_clone().unwrap()).lines();
        Self { stream, replies }
    }

    fn ask(&mut self, line: &str) -> Value {
        writeln!(self.stream, "{line}").unwrap();
        serde_json::from_str(&self.replies.next().unwrap().unwrap()).unwrap()
    }

    fn refused(&mut self, commands: &Value, expected: &str) {
        let reply = self.ask(&json!({ "commands": commands }).to_string());
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(error.contains(expected), "{reply}");
    }
}

/// Memory of the program, in KiB.
fn memory_kib(playing: &Playing<'_>) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", playing.child.id())).unwrap();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn json_that_is_nested_deep_is_no_request() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let mut client = Client::new(&here);
    for (open, close) in [("[", "]"), ("{\"id\":", "}")] {
        let count = 1_000_000 / (open.len() + close.len());
        let line = format!("{}1{}", open.repeat(count), close.repeat(count));
        assert_eq!(client.ask(&line)["ok"], false);
    }
    playing.send(&["set tone.freq 500"]).unwrap();
}

#[test]
fn a_client_has_one_subscription_however_often_it_asks() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let mut client = Client::new(&here);
    let subscribe = |topics: &Value, ports: &Value| json!([{ "do": "subscribe", "topics": topics, "ports": ports, "every_ms": 60_000 }]);
    let many = json!(vec!["tone.out"; 65]);
    client.refused(&subscribe(&json!(["spectrum"]), &many), "at most 64 ports");
    let topics = json!(vec!["changes"; 50_000]);
    let asked = json!({ "commands": subscribe(&topics, &json!([])) });
    assert_eq!(client.ask(&asked.to_string())["ok"], true);
    let one = json!({ "do": "subscribe", "topics": ["changes"] });
    let before = memory_kib(&playing);
    for _ in 0..10 {
        let asked = json!({ "commands": vec![one.clone(); 10_000] });
        assert_eq!(client.ask(&asked.to_string())["ok"], true);
    }
    let after = memory_kib(&playing);
    assert!(after < before + 100_000, "{before} to {after} KiB");
    // A change comes once.
    playing.send(&["set tone.freq 500"]).unwrap();
    playing.send(&["set tone.freq 501"]).unwrap();
    let message: Value = serde_json::from_str(&client.replies.next().unwrap().unwrap()).unwrap();
    assert_eq!(message["data"][0]["value"], 500.0, "{message}");
    let message: Value = serde_json::from_str(&client.replies.next().unwrap().unwrap()).unwrap();
    assert_eq!(message["data"][0]["value"], 501.0, "{message}");
}

#[test]
fn commands_for_far_frames_leave_room_for_others() {
    let here = Folder::new();
    let playing = Playing::start(&here, "");
    let mut client = Client::new(&here);
    let far = 1_u64 << 50;
    let start = json!({ "do": "start", "at": far });
    client.refused(
        &json!(vec![start.clone(); 65]),
        "64 commands of the transport",
    );
    for _ in 0..64 {
        let asked = json!({ "commands": [start] });
        assert_eq!(client.ask(&asked.to_string())["ok"], true);
    }
    client.refused(&json!([start]), "as many wait");
    let set = json!({ "do": "set", "target": "tone.freq", "value": 1, "at": far });
    let asked = json!({ "commands": [set] });
    let refused = (0..5000)
        .map(|_| client.ask(&asked.to_string()))
        .find(|it| it["ok"] == false);
    let error = refused.unwrap()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("wait for their frames"), "{error}");
    playing.send(&["stop", "set tone.freq 500"]).unwrap();
    playing.send(&["start"]).unwrap();
}

#[test]
fn packets_of_osc_that_ask_for_too_much_are_refused() {
    let here = Folder::new();
    let (playing, address) = Playing::start_osc(&here);
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let answer = |packet: &[u8]| {
        udp.send_to(packet, &address).unwrap();
        let mut buffer = [0; 65_536];
        let (length, _) = udp.recv_from(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let now = 1_u64.to_be_bytes();
    let set = osc("/node/tone/freq", "i", &500_u32.to_be_bytes());
    // Some bundles are larger than an engine takes at once.
    let blob = [&60_000_u32.to_be_bytes()[..], &[0; 60_000]].concat();
    let nested = (0..20).fold(set.clone(), |packet, _| bundle(now, &[packet]));
    let pattern = osc(&format!("/node/{}/freq", "*".repeat(5000)), "i", &[0; 4]);
    let far = bundle([0xff; 8], &vec![osc("/transport/start", "", &[]); 65]);
    for (packet, expected) in [
        (osc("/node/tone/freq", "b", &blob), "takes one number"),
        (
            bundle(now, &vec![osc("/node/tona/freq", "i", &[0; 4]); 1000]),
            "nothing is called",
        ),
        (nested, "nested at most"),
        (pattern, "1024 characters"),
        (far, "64 commands of the transport"),
        (
            bundle(now, &vec![osc("/do/query", "s", b"kinds\0\0\0"); 17]),
            "16 queries",
        ),
    ] {
        let said = answer(&packet);
        assert!(said.contains("\"ok\":false"), "{expected}: {said}");
        let has_reason = said.contains(expected) || expected.is_empty();
        assert!(has_reason, "{expected}: {said}");
    }
    let large = answer(&bundle(now, &vec![set; 1500]));
    assert!(large.contains("\"ok\":true"), "{large}");
    assert_eq!(playing.graph()["nodes"][0]["params"]["freq"], 500.0);
}
