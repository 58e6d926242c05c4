package intent

// PortNamed is the port of that name, nil if the device states none.
func (d *Device) PortNamed(name string) *Port {
	for i := range d.Ports {
		if d.Ports[i].Name == name {
			return &d.Ports[i]
		}
	}
	return nil
}

// LAGNamed is the LAG, bond or team of that name, nil if there is none.
func (d *Device) LAGNamed(name string) *LAG {
	for i := range d.LAGs {
		if d.LAGs[i].Name == name {
			return &d.LAGs[i]
		}
	}
	return nil
}

// QoSNamed is the QoS value of that name, nil if there is none; "" names none.
func (d *Device) QoSNamed(name string) *QoS {
	for i := range d.QoS {
		if name != "" && d.QoS[i].Name == name {
			return &d.QoS[i]
		}
	}
	return nil
}
